// A figure of bars with their lowest and highest values: a group for each case, in it one bar for each
// policy.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/support/text/output.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench {

struct Bar {
  std::string policy;
  std::string group;  // without spaces
  harness::Spread height;
};

/// `commands` go before (axes, title); `line` is plotted with the bars, as in "0.99 title 'paper'".
Figure bars_by_policy(const std::vector<std::string>& policies, const std::vector<Bar>& bars,
                      const std::string& commands, const std::string& line);

}  // namespace fairgv::bench
