#include "tests/workloads/problems/convolution_separable.hpp"

#include <algorithm>

#include "tests/workloads/support/verify.hpp"

namespace workloads {

const Description kConvolutionSeparable = {
    .name = "convolutionSeparable",
    .unit = "Mpixel/s",
    .size_meaning = "rows and columns of the image",
    .default_size = 160,
    .size_multiple = ConvolutionSeparableProblem::kTile,
    .maximum_size = 8192,
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 16,
};

ConvolutionSeparableProblem::ConvolutionSeparableProblem(const Parameters& parameters)
    : side(parameters.size),
      image(random_floats(side * side, 0.0F, 1.0F, parameters.seed)),
      row_filter(random_floats(kTaps, -1.0F, 1.0F, parameters.seed + 1)),
      column_filter(random_floats(kTaps, -1.0F, 1.0F, parameters.seed + 2)) {}

std::optional<std::string> ConvolutionSeparableProblem::find_mismatch(const std::vector<float>& result) {
  if (expected_.empty()) convolve_on_host();
  // Two sums of 17 single-precision products; their values stay below 17 x 17.
  return compare("pixel", result, expected_, {5e-5, 1e-5});
}

void ConvolutionSeparableProblem::convolve_on_host() {
  std::vector<double> rows_done(side * side, 0.0);
  expected_.assign(side * side, 0.0);
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t column = 0; column < side; ++column) {
      const auto [first, last] = taps_inside(column);
      for (std::size_t tap = first; tap < last; ++tap) {
        rows_done[row * side + column] +=
            static_cast<double>(row_filter[tap]) * image[row * side + column + tap - kRadius];
      }
    }
  }
  for (std::size_t row = 0; row < side; ++row) {
    const auto [first, last] = taps_inside(row);
    for (std::size_t tap = first; tap < last; ++tap) {
      for (std::size_t column = 0; column < side; ++column) {
        expected_[row * side + column] +=
            static_cast<double>(column_filter[tap]) * rows_done[(row + tap - kRadius) * side + column];
      }
    }
  }
}

/// The taps (first, one past the last) that fall inside the image around `position`.
std::pair<std::size_t, std::size_t> ConvolutionSeparableProblem::taps_inside(std::size_t position) const {
  return {position < kRadius ? kRadius - position : 0, std::min(kTaps, side + kRadius - position)};
}

}  // namespace workloads
