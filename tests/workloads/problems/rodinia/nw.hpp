#pragma once
// Global alignment of two sequences (Needleman and Wunsch, 1970). Each cell of a matrix of scores needs those
// above, to the left, and above to the left. The matrix is filled in square blocks. The blocks of one
// diagonal need nothing of each other, and are one launch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kNw;

struct NwProblem {
  static constexpr std::size_t kBlock = 32;    ///< Rows and columns of a block.
  static constexpr std::size_t kLetters = 20;  ///< As many as there are amino acids.
  static constexpr std::int32_t kGap = 6;      ///< What a letter without a partner costs.

  explicit NwProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(length * length) / 1e6; }

  /// The blocks of one launch, from the upper right to the lower left.
  struct Diagonal {
    std::size_t number = 0;     ///< The sum of row and column of its blocks, in blocks.
    std::size_t first_row = 0;  ///< In blocks.
    std::size_t blocks = 0;
  };
  std::vector<Diagonal> diagonals() const;

  std::optional<std::string> find_mismatch(const std::vector<std::int32_t>& scores);

  const std::size_t length;                    ///< Of both sequences.
  const std::size_t side;                      ///< Of the matrix: whole blocks.
  const std::vector<std::uint8_t> down;        ///< The sequence beside the rows, with `side` letters.
  const std::vector<std::uint8_t> across;      ///< The one above the columns.
  const std::vector<std::int32_t> similarity;  ///< Of two letters: kLetters x kLetters, symmetric.

 private:
  void align_on_host();

  std::vector<std::int32_t> expected_;
};

}  // namespace workloads
