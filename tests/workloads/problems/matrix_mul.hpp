#pragma once
// C = A x B in single precision. C is square; A and B are as well, unless one is narrow and the other flat.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kMatrixMul;

struct MatrixMulProblem {
  static constexpr std::size_t kLanes = 4;  ///< Elements of a work-item, or thread: neighbours of one row.

  explicit MatrixMulProblem(const Parameters& parameters);

  double work() const {
    return 2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(inner) / 1e9;
  }

  std::optional<std::string> find_mismatch(const std::vector<float>& product);

  const std::size_t side;
  const std::size_t inner;
  const std::size_t tile;  ///< Rows and columns of C that a work-group computes.
  const std::uint64_t seed;
  const std::vector<float> left;
  const std::vector<float> right;

 private:
  std::optional<std::string> check_every_element(const std::vector<float>& product);
  std::optional<std::string> check_by_projection(const std::vector<float>& product) const;

  std::vector<double> expected_;
};

}  // namespace workloads
