#pragma once
// An image convolved with a 17 x 17 filter that is the product of a row and a column filter.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kConvolutionSeparable;

struct ConvolutionSeparableProblem {
  static constexpr std::size_t kTile = 16;
  static constexpr std::size_t kRadius = 8;
  static constexpr std::size_t kTaps = 2 * kRadius + 1;
  static_assert(2 * kRadius == kTile, "a work-group loads its tile with the halo in two steps");

  explicit ConvolutionSeparableProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(side * side) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<float>& result);

  const std::size_t side;
  const std::vector<float> image;
  const std::vector<float> row_filter;
  const std::vector<float> column_filter;

 private:
  void convolve_on_host();
  std::pair<std::size_t, std::size_t> taps_inside(std::size_t position) const;

  std::vector<double> expected_;
};

}  // namespace workloads
