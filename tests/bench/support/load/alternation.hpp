// Runs of workloads side by side, one at work at a time, in turns too short for the machine to change between
// them: for differences that are smaller than those between two separate runs.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/harness/child.hpp"

namespace fairgv::bench {

/// The seconds that the same rounds or builds took, one after the other.
struct Turns {
  double first = 0;
  double second = 0;
};

/// Starts both (workloads, without how much they are to do), has each of them run the same number of rounds,
/// such that they take about `turn_seconds`, `turns` times, and ends them. The one that goes first changes
/// from turn to turn.
Result<std::vector<Turns>> alternate(const harness::CommandLine& first, const harness::CommandLine& second,
                                     double turn_seconds, int turns);

/// The same with builds of their programs, one a turn.
Result<std::vector<Turns>> alternate_builds(const harness::CommandLine& first,
                                            const harness::CommandLine& second, int turns);

/// One run, whose turns are alternately the first and the second of a pair: condition(true) comes before each
/// first, condition(false) before each second. The first rounds, which find out how many fill a turn, are
/// under none.
Result<std::vector<Turns>> alternate_condition(const harness::CommandLine& program, double turn_seconds,
                                               int turns, const std::function<Result<void>(bool)>& condition);

/// The work of a run that takes turns with others.
struct InTurns {
  std::vector<double> throughputs;  // of each turn, in the workload's own unit
  nlohmann::json result;            // its final line on all turns
};

/// The waits of a program in a turn: for all rounds at their end, or as it does by itself.
enum class Waits { kAtTheEnd, kOwn };

/// Starts all (workloads, without how much they are to do), has one after the other run rounds for about
/// `turn_seconds`, `turns` times, and ends them. Their order changes from turn to turn; the result has that
/// of the commands.
Result<std::vector<InTurns>> run_in_turns(const std::vector<harness::CommandLine>& programs, Waits waits,
                                          double turn_seconds, int turns);

}  // namespace fairgv::bench
