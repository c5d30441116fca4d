#include "tests/workloads/problems/rodinia/hotspot.hpp"

#include "tests/workloads/support/verify.hpp"

namespace workloads {

const Description kHotspot = {
    .name = "hotspot",
    .unit = "Mcell/s",
    .size_meaning = "rows and columns of the grid",
    .default_size = 160,
    .size_multiple = HotspotProblem::kTile,
    .maximum_size = 8192,
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 16,
};

HotspotProblem::HotspotProblem(const Parameters& parameters)
    : side(parameters.size),
      start(random_floats(side * side, 60.0F, 120.0F, parameters.seed)),
      power(random_floats(side * side, 0.0F, 2.0F, parameters.seed + 1)) {}

std::optional<std::string> HotspotProblem::find_mismatch(const std::vector<float>& temperature) {
  if (expected_.empty()) simulate_on_host();
  // Eight steps in single precision on values up to about 130.
  return compare("temperature", temperature, expected_, {1e-4, 1e-5});
}

void HotspotProblem::simulate_on_host() {
  std::vector<double> before(start.begin(), start.end());
  std::vector<double> after(before.size());
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t row = 0; row < side; ++row) {
      for (std::size_t column = 0; column < side; ++column) {
        after[row * side + column] = cell_after_step(before, row, column);
      }
    }
    before.swap(after);
  }
  expected_ = before;
}

double HotspotProblem::cell_after_step(const std::vector<double>& before, std::size_t row,
                                       std::size_t column) const {
  const std::size_t cell = row * side + column;
  const double here = before[cell];
  const double west = column > 0 ? before[cell - 1] : here;
  const double east = column + 1 < side ? before[cell + 1] : here;
  const double north = row > 0 ? before[cell - side] : here;
  const double south = row + 1 < side ? before[cell + side] : here;
  return here + static_cast<double>(kPowerToHeat) * power[cell] +
         static_cast<double>(kAlongRows) * (west + east - 2.0 * here) +
         static_cast<double>(kAlongColumns) * (north + south - 2.0 * here) +
         static_cast<double>(kToAmbient) * (static_cast<double>(kAmbient) - here);
}

}  // namespace workloads
