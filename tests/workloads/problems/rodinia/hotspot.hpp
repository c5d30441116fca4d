#pragma once
// Temperature of a chip from the power its parts draw, by explicit time steps of a five-point stencil.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kHotspot;

struct HotspotProblem {
  static constexpr std::size_t kTile = 16;
  /// Even: the result is in the second of two alternating buffers.
  static constexpr std::size_t kSteps = 8;

  // One time step: conductances to the neighbours along each axis and to the ambient, all times the step over
  // the heat capacity of a cell. Their sum (twice each axis, once the ambient) is below 1, so the step is
  // stable.
  static constexpr float kAlongRows = 0.11F;
  static constexpr float kAlongColumns = 0.13F;
  static constexpr float kToAmbient = 0.02F;
  static constexpr float kPowerToHeat = 0.5F;
  static constexpr float kAmbient = 80.0F;

  explicit HotspotProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(side * side * kSteps) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<float>& temperature);

  const std::size_t side;
  const std::vector<float> start;
  const std::vector<float> power;

 private:
  void simulate_on_host();
  double cell_after_step(const std::vector<double>& before, std::size_t row, std::size_t column) const;

  std::vector<double> expected_;
};

}  // namespace workloads
