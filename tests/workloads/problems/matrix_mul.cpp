#include "tests/workloads/problems/matrix_mul.hpp"

#include <cmath>
#include <random>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

constexpr std::size_t kLargestTile = 32;
constexpr std::size_t kLargestFullCheck = 512;

std::size_t inner_of(const Parameters& parameters) {
  const std::uint64_t asked = parameters.own.at("inner");
  return asked == 0 ? parameters.size : asked;
}

std::vector<double> times(const std::vector<float>& matrix, const std::vector<double>& vector) {
  std::vector<double> result(matrix.size() / vector.size(), 0.0);
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t column = 0; column < vector.size(); ++column) {
      result[row] += static_cast<double>(matrix[row * vector.size() + column]) * vector[column];
    }
  }
  return result;
}

}  // namespace

const Description kMatrixMul = {
    .name = "matrixMul",
    .unit = "GFLOP/s",
    .size_meaning = "rows and columns of C",
    .default_size = 128,
    .size_multiple = kLargestTile,
    .maximum_size = 16384,
    .cost_exponent = 3.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 8,
    .own_options = {{.name = "inner",
                     .meaning = "columns of A and rows of B (default: as many as --size)",
                     .choices = {32, 64, 128, 256, 512, 1024, 2048, 4096}},
                    {.name = "tile",
                     .meaning = "rows and columns of C that a work-group computes: 8, 16 or 32 (default 32)",
                     .default_value = kLargestTile,
                     .choices = {8, 16, kLargestTile}}},
};

MatrixMulProblem::MatrixMulProblem(const Parameters& parameters)
    : side(parameters.size),
      inner(inner_of(parameters)),
      tile(parameters.own.at("tile")),
      seed(parameters.seed),
      left(random_floats(side * inner, -1.0F, 1.0F, seed)),
      right(random_floats(inner * side, -1.0F, 1.0F, seed + 1)) {}

std::optional<std::string> MatrixMulProblem::find_mismatch(const std::vector<float>& product) {
  return side <= kLargestFullCheck ? check_every_element(product) : check_by_projection(product);
}

std::optional<std::string> MatrixMulProblem::check_every_element(const std::vector<float>& product) {
  if (expected_.empty()) {
    expected_.assign(side * side, 0.0);
    for (std::size_t row = 0; row < side; ++row) {
      for (std::size_t k = 0; k < inner; ++k) {
        const double factor = left[row * inner + k];
        for (std::size_t column = 0; column < side; ++column) {
          expected_[row * side + column] += factor * right[k * side + column];
        }
      }
    }
  }
  // A sum of n rounded products of values below 1 is off by a few times sqrt(n) rounding steps.
  return compare("C", product, expected_, {1e-6 * std::sqrt(static_cast<double>(inner)), 1e-5});
}

/// Freivalds' check: C v = A (B v) for random v of +1 and -1. One wrong element shows in its row for every
/// such v; several in one row cancel for at most half of the vectors.
std::optional<std::string> MatrixMulProblem::check_by_projection(const std::vector<float>& product) const {
  constexpr int kVectors = 4;
  std::mt19937_64 generator(seed + 2);
  for (int repetition = 0; repetition < kVectors; ++repetition) {
    std::vector<double> signs(side);
    for (double& sign : signs) sign = (generator() & 1U) != 0 ? 1.0 : -1.0;
    const auto expected = times(left, times(right, signs));
    const auto projected = times(product, signs);
    const double tolerance = 1e-5 * std::sqrt(static_cast<double>(side * inner));
    for (std::size_t row = 0; row < side; ++row) {
      if (!(std::abs(projected[row] - expected[row]) <= tolerance)) {
        return "row " + std::to_string(row) + " of C is wrong: its projection is " +
               std::to_string(projected[row]) + ", expected " + std::to_string(expected[row]);
      }
    }
  }
  return std::nullopt;
}

}  // namespace workloads
