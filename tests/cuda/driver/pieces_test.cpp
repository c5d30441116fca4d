// Boxes of bytes, cut for staging.
#include "cuda-shim/driver/pieces.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using fairgv::cuda::bytes_of;
using fairgv::cuda::Extent;
using fairgv::cuda::remote::for_each_piece;
using fairgv::cuda::remote::Piece;

std::vector<Piece> pieces_of(const Extent& box, std::size_t most) {
  std::vector<Piece> pieces;
  EXPECT_EQ(CUDA_SUCCESS, for_each_piece(box, most, [&](const Piece& piece) {
              pieces.push_back(piece);
              return CUDA_SUCCESS;
            }));
  return pieces;
}

}  // namespace

TEST(Pieces, CoverEveryByteOnceAndAreNoLargerThanAsked) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto number = [&](std::size_t most) { return 1 + random() % most; };
  for (int round = 0; round < 500; ++round) {
    const Extent box{number(40), number(12), number(6)};
    const std::size_t most = number(200);
    std::vector<int> covered(bytes_of(box));
    for (const Piece& piece : pieces_of(box, most)) {
      ASSERT_LE(bytes_of(piece.extent), most);
      for (std::size_t z = 0; z < piece.extent.depth; ++z) {
        for (std::size_t y = 0; y < piece.extent.height; ++y) {
          for (std::size_t x = 0; x < piece.extent.width; ++x) {
            const std::size_t row = (piece.z + z) * box.height + piece.y + y;
            ++covered.at(row * box.width + piece.x + x);
          }
        }
      }
    }
    for (const int times : covered) ASSERT_EQ(1, times) << box.width << ' ' << box.height << ' ' << box.depth;
  }
}

TEST(Pieces, AreAsFewAsWholeRowsAndSlicesAllow) {
  EXPECT_EQ(1U, pieces_of({100, 1, 1}, 100).size());
  EXPECT_EQ(2U, pieces_of({100, 1, 1}, 99).size());
  EXPECT_EQ(5U, pieces_of({10, 10, 1}, 29).size()) << "two rows each";
  EXPECT_EQ(2U, pieces_of({10, 10, 4}, 200).size()) << "two slices each";
}

TEST(Pieces, EndWithTheFirstFailure) {
  int taken = 0;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, for_each_piece({100, 1, 1}, 10, [&](const Piece&) {
              return ++taken == 3 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
            }));
  EXPECT_EQ(3, taken);
}
