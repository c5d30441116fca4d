#pragma once
// Cheapest paths down a grid, from each cell to one of the three below it, at the cost of the cells. A launch
// advances several rows. Its work-groups begin with more columns than they end with, so that they need
// nothing of each other.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kPathfinder;

struct PathfinderProblem {
  static constexpr std::size_t kGroup = 256;
  static constexpr std::size_t kRowsPerLaunch = 20;
  /// Of the columns that a work-group begins with, these are right to the last row of its launch.
  static constexpr std::size_t kColumnsPerGroup = kGroup - 2 * kRowsPerLaunch;
  static constexpr std::size_t kLaunches = 5;
  static_assert(kLaunches % 2 == 1, "the result is in the first of two alternating buffers");

  explicit PathfinderProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(columns * kRowsPerLaunch * kLaunches) / 1e6; }

  std::size_t groups() const { return (columns + kColumnsPerGroup - 1) / kColumnsPerGroup; }

  std::optional<std::string> find_mismatch(const std::vector<std::uint32_t>& costs);

  const std::size_t columns;
  const std::vector<std::uint32_t> first_row;
  const std::vector<std::uint8_t> steps;  ///< The costs of the cells below the first row, row by row.

 private:
  void descend_on_host();

  std::vector<std::uint32_t> expected_;
};

}  // namespace workloads
