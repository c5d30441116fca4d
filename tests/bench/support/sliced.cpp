#include "tests/bench/support/sliced.hpp"

#include <utility>

#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench {

using namespace harness;

CommandLine sliced(CommandLine command, const Slicing& slicing) {
  command.environment.emplace_back("FAIRGV_SLICE", slicing);
  return command;
}

Twins::Twins(const CommandLine& program, const Slicing& slicing, const CommandLine& twin)
    : program_(sliced(program, slicing)), twin_(sliced(twin, kNeverSliced)) {}

Result<std::vector<Turns>> Twins::meet(int meeting, const Meet& meet) const {
  if (meeting % 2 == 0) return meet(program_, twin_);
  auto turns = meet(twin_, program_);
  if (!turns) return turns;
  for (Turns& turn : turns.value()) std::swap(turn.first, turn.second);
  return turns;
}

Result<std::vector<double>> Twins::compare(int meetings, double turn_seconds, int turns,
                                           ProgressLine& progress, const std::string& what) const {
  std::vector<double> ratios;
  for (int meeting = 0; meeting < meetings; ++meeting) {
    progress.step(what);
    const auto taken = meet(meeting, [&](const CommandLine& first, const CommandLine& second) {
      return alternate(first, second, turn_seconds, turns);
    });
    if (!taken) return taken.error();
    std::vector<double> of_turns;
    for (const Turns& turn : taken.value()) of_turns.push_back(turn.second / turn.first);
    ratios.push_back(median(of_turns));
  }
  return ratios;
}

}  // namespace fairgv::bench
