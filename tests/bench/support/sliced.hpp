// Tenants whose launches are cut otherwise than configured (FAIRGV_SLICE), and the cost of that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/support/load/alternation.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// A value of FAIRGV_SLICE; none: as configured.
using Slicing = std::optional<std::string>;

inline const Slicing kNeverSliced = "off";

/// The command with this slicing, whatever the environment says.
harness::CommandLine sliced(harness::CommandLine command, const Slicing& slicing);

/// A tenant's program with some slicing, and its twin that is never sliced.
class Twins {
 public:
  Twins(const harness::CommandLine& program, const Slicing& slicing, const harness::CommandLine& twin);

  /// meet(first, second) gives Turns; here the first are always the program's. A program that starts first
  /// gets other memory, so the order changes from one meeting to the next.
  using Meet =
      std::function<Result<std::vector<Turns>>(const harness::CommandLine&, const harness::CommandLine&)>;
  Result<std::vector<Turns>> meet(int meeting, const Meet& meet) const;

  /// The program's throughput over that of its twin: the median turn of each of `meetings` meetings of
  /// `turns` turns. A step of `progress` each.
  Result<std::vector<double>> compare(int meetings, double turn_seconds, int turns, ProgressLine& progress,
                                      const std::string& what) const;

 private:
  harness::CommandLine program_;
  harness::CommandLine twin_;
};

}  // namespace fairgv::bench
