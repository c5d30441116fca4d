#include "tests/workloads/problems/rodinia/lud.hpp"

#include <cmath>
#include <random>

namespace workloads {

const Description kLud = {
    .name = "lud",
    .unit = "GFLOP/s",
    .size_meaning = "rows and columns of the matrix",
    .default_size = 512,
    .size_multiple = LudProblem::kBlock,
    .maximum_size = 8192,
    // Of a launch: the mean of those that update what is left.
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 47,
};

/// The kernel `prepare` computes the same. Rows are dominated by their diagonal, so that no pivot is small.
double LudProblem::element(std::size_t row, std::size_t column) const {
  std::uint32_t word = static_cast<std::uint32_t>(row * side + column) ^ seed;
  word = (word ^ (word >> 16U)) * 0x7feb352dU;
  word = (word ^ (word >> 15U)) * 0x846ca68bU;
  word ^= word >> 16U;
  const double off_diagonal = static_cast<double>(word >> 8U) / (1U << 23U) - 1.0;
  return row == column ? static_cast<double>(side) : off_diagonal;
}

/// L (U v) = A v for random v of +1 and -1, as in MatrixMulProblem.
std::optional<std::string> LudProblem::find_mismatch(const std::vector<float>& factors) const {
  constexpr int kVectors = 4;
  std::mt19937_64 generator(seed);
  // The sums have `side` terms below 1 and one of `side`; the worst rounding is of the latter.
  const double tolerance = 1e-6 * static_cast<double>(side);
  for (int repetition = 0; repetition < kVectors; ++repetition) {
    std::vector<double> signs(side);
    for (double& sign : signs) sign = (generator() & 1U) != 0 ? 1.0 : -1.0;
    std::vector<double> upper(side, 0.0);
    for (std::size_t row = 0; row < side; ++row) {
      for (std::size_t column = row; column < side; ++column)
        upper[row] += static_cast<double>(factors[row * side + column]) * signs[column];
    }
    for (std::size_t row = 0; row < side; ++row) {
      double got = upper[row];
      for (std::size_t column = 0; column < row; ++column)
        got += static_cast<double>(factors[row * side + column]) * upper[column];
      double expected = 0.0;
      for (std::size_t column = 0; column < side; ++column) expected += element(row, column) * signs[column];
      if (!(std::abs(got - expected) <= tolerance)) {
        return "row " + std::to_string(row) + " of L U is wrong: its projection is " + std::to_string(got) +
               ", expected " + std::to_string(expected);
      }
    }
  }
  return std::nullopt;
}

}  // namespace workloads
