#pragma once
// Speckle-reducing anisotropic diffusion (Yu and Acton, 2002) of a square image.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kSrad;

struct SradProblem {
  static constexpr std::size_t kIterations = 4;
  static constexpr std::size_t kGroup = 128;
  static constexpr std::size_t kReduceGroups = 16;
  static constexpr float kTimeStep = 0.5F;
  static_assert(kIterations % 2 == 0, "the result is in the first of two alternating buffers");

  explicit SradProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(pixels * kIterations) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<float>& result);

  const std::size_t side;
  const std::size_t pixels;
  const std::vector<float> image;

  /// The squared coefficient of variation of the whole image: how strong the speckle is.
  static double speckle_of(double sum, double sum_of_squares, std::size_t pixels);

 private:
  std::vector<double> expected_;
};

}  // namespace workloads
