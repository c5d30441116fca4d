// The report's knowledge of each experiment beyond what the experiment says of itself: the one table of goals
// and published values. An experiment that is not in it is run and shown as well, without a line in the
// summary.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/report/figure_of_merit.hpp"

namespace fairgv::bench::report {

struct Entry {
  std::string name;  // as in `fairgv bench NAME`
  std::string title;
  std::vector<FigureOfMerit> figures;
  std::string drawing{};                  // its figure in words, for readers who do not see it
  std::vector<std::string> when_quick{};  // options for a quick run, where it has no --quick
};

/// In the order in which the report has them.
const std::vector<Entry>& catalogue();

/// The entry, or one that has no more than the name.
Entry entry_of(const std::string& name);

}  // namespace fairgv::bench::report
