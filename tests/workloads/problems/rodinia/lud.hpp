#pragma once
// A = L U without pivoting, in the place of A: the diagonal of L is 1. The matrix is factored in square
// blocks. Its elements are made on the device, anew in each round, so that it is there once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kLud;

struct LudProblem {
  static constexpr std::size_t kBlock = 32;  ///< Rows and columns of a block.
  static constexpr std::size_t kLanes = 4;   ///< Elements of a work-item within a block: neighbours of a row.

  explicit LudProblem(const Parameters& parameters)
      : side(parameters.size), seed(static_cast<std::uint32_t>(parameters.seed)) {}

  /// Billions of operations.
  double work() const {
    const auto n = static_cast<double>(side);
    return 2.0 / 3.0 * n * n * n / 1e9;
  }

  std::size_t blocks() const { return side / kBlock; }

  std::optional<std::string> find_mismatch(const std::vector<float>& factors) const;

  const std::size_t side;
  const std::uint32_t seed;

 private:
  double element(std::size_t row, std::size_t column) const;
};

}  // namespace workloads
