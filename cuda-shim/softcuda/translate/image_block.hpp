// A texture or surface object as a kernel sees it: the object's 64-bit handle is the address of this block.
// The driver writes the block when the object is made; prelude/image.cl declares the same struct in OpenCL C.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fairgv::softcuda {

/// How a channel in memory becomes the 32 bits that a fetch gives.
enum class ChannelFormat : std::uint32_t {
  kWord = 0,  // as it is: 32-bit integers and float
  kUnsigned8,
  kSigned8,
  kUnsigned16,
  kSigned16,
  kHalf,          // to float
  kNormalized8,   // to [0, 1]
  kNormalizedS8,  // to [-1, 1]
  kNormalized16,
  kNormalizedS16,
  kSrgb8,  // to linear [0, 1]; the fourth channel as kNormalized8
};

/// The treatment of a texel's index outside its dimension. The numbers are CUaddress_mode's.
enum class AddressMode : std::uint32_t { kWrap = 0, kClamp = 1, kMirror = 2, kBorder = 3 };

/// A texture of several levels has one block more for each of them, first to last, behind the one at the
/// handle. That one is the level which instructions that name no level read, or the nearest to it.
struct ImageBlock {
  static constexpr std::uint32_t kNormalizedCoordinates = 1;
  static constexpr std::uint32_t kLinearFilter = 2;
  static constexpr std::uint32_t kBetweenLevels = 4;      // instructions that name no level read two
  static constexpr std::uint32_t kLinearLevelFilter = 8;  // between levels

  std::uint64_t address = 0;                       // of the first texel
  std::uint64_t row_bytes = 0;                     // from row to row
  std::uint64_t slice_bytes = 0;                   // from slice to slice, or layer to layer
  std::uint32_t width = 1, height = 1, depth = 1;  // texels; depth: slices, layers or faces; none is 0
  std::uint32_t texel_bytes = 0;
  std::uint32_t channels = 0;  // 1, 2, 4
  std::uint32_t format = 0;    // ChannelFormat
  std::uint32_t flags = 0;
  std::uint32_t modes[3] = {1, 1, 1};      // AddressMode, by dimension
  std::uint32_t border[4] = {0, 0, 0, 0};  // the 32 bits of each channel
  std::uint32_t levels = 1;                // 1: no blocks follow
  float level_bias = 0;
  float least_level = 0, most_level = 0;  // both among the levels there are
};

/// A level, and the weight of the next one.
struct LevelWeights {
  std::uint32_t level = 0;
  float weight = 0;  // in steps of 1/256
};

/// Where between levels a fetch reads; `wished` as an instruction says it.
inline float clamped_level(const ImageBlock& block, float wished) {
  return std::fmin(std::fmax(wished + block.level_bias, block.least_level), block.most_level);
}
inline std::uint32_t nearest_level(const ImageBlock& block, float wished) {
  return static_cast<std::uint32_t>(std::floor(clamped_level(block, wished) + 0.5F));
}
inline LevelWeights levels_at(const ImageBlock& block, float wished) {
  if ((block.flags & ImageBlock::kLinearLevelFilter) == 0) return {nearest_level(block, wished), 0};
  const float steps = std::rint(clamped_level(block, wished) * 256.0F) / 256.0F;
  return {static_cast<std::uint32_t>(steps), steps - std::floor(steps)};
}

static_assert(sizeof(ImageBlock) == 96);
static_assert(offsetof(ImageBlock, width) == 24);
static_assert(offsetof(ImageBlock, modes) == 52);
static_assert(offsetof(ImageBlock, levels) == 80);

}  // namespace fairgv::softcuda
