// The levels of mipmapped arrays, without a device: how many there are, how large, and which a fetch reads.
#include <gtest/gtest.h>

#include <limits>

#include "cuda-shim/softcuda/translate/image_block.hpp"
#include "runtime/wire/calls/cuda/levels.hpp"

namespace fairgv {
namespace {

using softcuda::ImageBlock;
using wire::cuda::ArrayExtents;
using wire::cuda::level_extents;
using wire::cuda::most_levels;

TEST(MipmapLevels, HalveEveryExtentDownToOne) {
  EXPECT_EQ(level_extents({13, 5, 0}, false, 0), (ArrayExtents{13, 5, 0}));
  EXPECT_EQ(level_extents({13, 5, 0}, false, 1), (ArrayExtents{6, 2, 0}));
  EXPECT_EQ(level_extents({13, 5, 0}, false, 3), (ArrayExtents{1, 1, 0}));
  EXPECT_EQ(level_extents({13, 0, 0}, false, 2), (ArrayExtents{3, 0, 0}));
  EXPECT_EQ(level_extents({16, 16, 9}, false, 2), (ArrayExtents{4, 4, 2}));
  EXPECT_EQ(level_extents({16, 16, 9}, true, 2), (ArrayExtents{4, 4, 9})) << "layers stay";
  EXPECT_EQ(level_extents({16, 16, 9}, false, 200), (ArrayExtents{1, 1, 1}));
}

TEST(MipmapLevels, EndWhereTheLargestExtentIsOne) {
  EXPECT_EQ(most_levels({1, 0, 0}, false), 1U);
  EXPECT_EQ(most_levels({2, 0, 0}, false), 2U);
  EXPECT_EQ(most_levels({13, 31, 0}, false), 5U);
  EXPECT_EQ(most_levels({13, 32, 0}, false), 6U);
  EXPECT_EQ(most_levels({4, 4, 100}, false), 7U);
  EXPECT_EQ(most_levels({4, 4, 100}, true), 3U) << "layers do not count";
  EXPECT_EQ(most_levels({~std::uint64_t{0}, 0, 0}, false), 64U);
}

ImageBlock of_levels(std::uint32_t levels, bool linear) {
  ImageBlock block;
  block.levels = levels;
  block.most_level = static_cast<float>(levels - 1);
  if (linear) block.flags = ImageBlock::kLinearLevelFilter;
  return block;
}

TEST(MipmapLevels, TheNearestIsReadOrTwoByTheirWeights) {
  const ImageBlock nearest = of_levels(5, false);
  EXPECT_EQ(softcuda::nearest_level(nearest, 1.49F), 1U);
  EXPECT_EQ(softcuda::nearest_level(nearest, 1.5F), 2U);
  EXPECT_EQ(softcuda::levels_at(nearest, 1.5F).weight, 0);
  const ImageBlock linear = of_levels(5, true);
  EXPECT_EQ(softcuda::levels_at(linear, 1.25F).level, 1U);
  EXPECT_EQ(softcuda::levels_at(linear, 1.25F).weight, 0.25F);
  EXPECT_EQ(softcuda::levels_at(linear, 1.999F).level, 2U) << "within half a step of 1/256";
  EXPECT_EQ(softcuda::levels_at(linear, 1.999F).weight, 0);
}

TEST(MipmapLevels, NothingButLevelsThatThereAreIsRead) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const bool linear : {false, true}) {
    ImageBlock block = of_levels(4, linear);
    block.least_level = 1;
    for (const float bias : {0.0F, -1.0F, 2.0F, kInfinity, -kInfinity, kNone}) {
      block.level_bias = bias;
      for (const float wished : {0.0F, 3.2F, -5.0F, 1e30F, kInfinity, -kInfinity, kNone}) {
        const auto at = softcuda::levels_at(block, wished);
        EXPECT_GE(at.level, 1U) << bias << ' ' << wished;
        EXPECT_LE(static_cast<float>(at.level) + at.weight, 3) << bias << ' ' << wished;
        EXPECT_LE(softcuda::nearest_level(block, wished), 3U);
      }
    }
  }
}

}  // namespace
}  // namespace fairgv
