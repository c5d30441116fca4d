#include "tests/workloads/problems/rodinia/pathfinder.hpp"

#include <algorithm>
#include <random>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

constexpr std::uint32_t kCostlyStep = 10;

template <typename Cost>
std::vector<Cost> random_costs(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::uint32_t> uniform(0, kCostlyStep - 1);
  std::vector<Cost> costs(count);
  for (Cost& cost : costs) cost = static_cast<Cost>(uniform(generator));
  return costs;
}

}  // namespace

const Description kPathfinder = {
    .name = "pathfinder",
    .unit = "Mcell/s",
    .size_meaning = "columns of the grid",
    .default_size = 40000,
    .maximum_size = 1U << 22U,
    .default_sync = SyncMode::kBatch,
    .default_batch = PathfinderProblem::kLaunches,
};

PathfinderProblem::PathfinderProblem(const Parameters& parameters)
    : columns(parameters.size),
      first_row(random_costs<std::uint32_t>(columns, parameters.seed)),
      steps(random_costs<std::uint8_t>(columns * kRowsPerLaunch * kLaunches, parameters.seed + 1)) {}

std::optional<std::string> PathfinderProblem::find_mismatch(const std::vector<std::uint32_t>& costs) {
  if (expected_.empty()) descend_on_host();
  return compare_exactly("cost", costs, expected_);
}

void PathfinderProblem::descend_on_host() {
  std::vector<std::uint32_t> above = first_row;
  std::vector<std::uint32_t> below(columns);
  for (auto row = steps.begin(); row != steps.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::uint32_t cheapest = above[column];
      if (column > 0) cheapest = std::min(cheapest, above[column - 1]);
      if (column + 1 < columns) cheapest = std::min(cheapest, above[column + 1]);
      below[column] = cheapest + row[static_cast<std::ptrdiff_t>(column)];
    }
    above.swap(below);
  }
  expected_ = above;
}

}  // namespace workloads
