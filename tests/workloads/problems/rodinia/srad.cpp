#include "tests/workloads/problems/rodinia/srad.hpp"

#include <algorithm>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

/// The same diffusion on the host, in double precision.
class HostImage {
 public:
  HostImage(const std::vector<float>& pixels, std::size_t side)
      : side_(side), pixels_(pixels.begin(), pixels.end()), coefficients_(pixels.size()) {}

  void iterate() {
    double sum = 0.0;
    double sum_of_squares = 0.0;
    for (const double pixel : pixels_) {
      sum += pixel;
      sum_of_squares += pixel * pixel;
    }
    const double speckle = SradProblem::speckle_of(sum, sum_of_squares, pixels_.size());
    std::vector<double> after(pixels_.size());
    for_each_pixel([&](std::size_t row, std::size_t column) { set_coefficient(row, column, speckle); });
    for_each_pixel(
        [&](std::size_t row, std::size_t column) { after[row * side_ + column] = diffused(row, column); });
    pixels_.swap(after);
  }

  const std::vector<double>& pixels() const { return pixels_; }

 private:
  struct Differences {
    double north, south, west, east;
  };

  template <typename Visit>
  void for_each_pixel(Visit visit) const {
    for (std::size_t row = 0; row < side_; ++row) {
      for (std::size_t column = 0; column < side_; ++column) visit(row, column);
    }
  }

  std::size_t below(std::size_t row) const { return row + 1 < side_ ? row + 1 : row; }
  std::size_t above(std::size_t row) const { return row > 0 ? row - 1 : row; }

  Differences differences(std::size_t row, std::size_t column) const {
    const double here = pixels_[row * side_ + column];
    return {pixels_[above(row) * side_ + column] - here, pixels_[below(row) * side_ + column] - here,
            pixels_[row * side_ + above(column)] - here, pixels_[row * side_ + below(column)] - here};
  }

  void set_coefficient(std::size_t row, std::size_t column, double speckle) {
    const double here = pixels_[row * side_ + column];
    const auto [north, south, west, east] = differences(row, column);
    const double gradient = (north * north + south * south + west * west + east * east) / (here * here);
    const double laplacian = (north + south + west + east) / here;
    const double base = 1.0 + 0.25 * laplacian;
    const double variation = (0.5 * gradient - laplacian * laplacian / 16.0) / (base * base);
    const double coefficient = 1.0 / (1.0 + (variation - speckle) / (speckle * (1.0 + speckle)));
    coefficients_[row * side_ + column] = std::min(std::max(coefficient, 0.0), 1.0);
  }

  double diffused(std::size_t row, std::size_t column) const {
    const auto [north, south, west, east] = differences(row, column);
    const double here = coefficients_[row * side_ + column];
    const double divergence = here * north + coefficients_[below(row) * side_ + column] * south +
                              here * west + coefficients_[row * side_ + below(column)] * east;
    return pixels_[row * side_ + column] + 0.25 * static_cast<double>(SradProblem::kTimeStep) * divergence;
  }

  const std::size_t side_;
  std::vector<double> pixels_;
  std::vector<double> coefficients_;
};

}  // namespace

const Description kSrad = {
    .name = "srad",
    .unit = "Mpixel/s",
    .size_meaning = "rows and columns of the image",
    .default_size = 128,
    .size_multiple = 16,
    .maximum_size = 8192,
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kEvery,
    .default_batch = 12,
};

SradProblem::SradProblem(const Parameters& parameters)
    : side(parameters.size),
      pixels(side * side),
      image(random_floats(pixels, 1.0F, 2.718F, parameters.seed)) {}

double SradProblem::speckle_of(double sum, double sum_of_squares, std::size_t pixels) {
  const double mean = sum / static_cast<double>(pixels);
  const double variance = sum_of_squares / static_cast<double>(pixels) - mean * mean;
  return variance / (mean * mean);
}

std::optional<std::string> SradProblem::find_mismatch(const std::vector<float>& result) {
  if (expected_.empty()) {
    HostImage host(image, side);
    for (std::size_t iteration = 0; iteration < kIterations; ++iteration) host.iterate();
    expected_ = host.pixels();
  }
  // Where 1 + excess is close to zero the coefficient is steep in it and single precision shows.
  return compare("pixel", result, expected_, {0.0, 1e-3});
}

}  // namespace workloads
