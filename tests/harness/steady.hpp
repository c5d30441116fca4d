// Ratios measured on a machine that is now fast and now slow. On a virtual machine a core is as fast as its
// neighbour on the other hardware thread lets it be: on ours the same additions took 1.2 to 2.0 times as
// long, in spells of 5 ms to some seconds, for a fifth to nearly all of the time (`fairgv bench steadiness`).
// A ratio whose two sides fall into different spells says nothing of what is compared. The same measurement
// before and after shows whether they may have, without a look at the figure itself. Spells in which company
// itself slows the program down are left out, too, so a benchmark that prints such a median prints the sums
// beside it.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/harness/statistics.hpp"

namespace fairgv::harness {

/// Whether the machine was as fast before as after, but for 3 %. Both above 0, in the same unit.
inline bool is_steady(double before, double after) {
  constexpr double kMost = 1.03;
  return std::max(before, after) <= kMost * std::min(before, after);
}

/// One ratio.
struct Observation {
  double value = 0;
  bool is_steady = true;
};

/// The values that count: those of a steady machine, or all if it never was.
inline std::vector<double> steady_values(const std::vector<Observation>& observations) {
  std::vector<double> steady;
  std::vector<double> all;
  for (const Observation& each : observations) {
    all.push_back(each.value);
    if (each.is_steady) steady.push_back(each.value);
  }
  return steady.empty() ? all : steady;
}

/// The median of all values that count in all runs, and the lowest and the highest of the runs' own medians.
/// At least one run, each of at least one value.
inline Spread spread_of_steady(const std::vector<std::vector<Observation>>& runs) {
  std::vector<Observation> all;
  std::vector<double> medians;
  for (const std::vector<Observation>& run : runs) {
    all.insert(all.end(), run.begin(), run.end());
    medians.push_back(median(steady_values(run)));
  }
  return {median(steady_values(all)), smallest(medians), largest(medians)};
}

}  // namespace fairgv::harness
