// The result of a texture fetch, worked out on the host from the CUDA Programming Guide's "Texture Fetching"
// and the PTX ISA.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "cuda-shim/softcuda/translate/image_block.hpp"
#include "tests/cuda/ptx/device.hpp"

namespace fairgv::texture_test {

using ptx_test::Memory;
using softcuda::AddressMode;
using softcuda::ChannelFormat;
using softcuda::ImageBlock;
using Words = std::array<std::uint32_t, 4>;

// The target of a fetch: coordinates as numbers and as integers, and a layer.
struct Point {
  float x = 0, y = 0, z = 0;
  std::int32_t i = 0, j = 0, k = 0;
  std::uint32_t layer = 0;
  std::uint32_t reserved = 0;
};

inline float single(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

inline float half_value(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const int fraction = h & 0x3ff;
  const float sign = (h & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

struct Format {
  ChannelFormat format;
  unsigned bytes;  // of a channel
  bool is_float;   // of a fetch's result
};
constexpr Format kFormats[] = {
    {ChannelFormat::kWord, 4, true},          {ChannelFormat::kWord, 4, false},
    {ChannelFormat::kUnsigned8, 1, false},    {ChannelFormat::kSigned8, 1, false},
    {ChannelFormat::kUnsigned16, 2, false},   {ChannelFormat::kSigned16, 2, false},
    {ChannelFormat::kHalf, 2, true},          {ChannelFormat::kNormalized8, 1, true},
    {ChannelFormat::kNormalizedS8, 1, true},  {ChannelFormat::kNormalized16, 2, true},
    {ChannelFormat::kNormalizedS16, 2, true}, {ChannelFormat::kSrgb8, 1, true},
};

inline std::uint32_t channel_value(ChannelFormat format, const std::byte* at, std::size_t channel) {
  std::uint8_t u8 = 0;
  std::uint16_t u16 = 0;
  std::uint32_t u32 = 0;
  std::memcpy(&u8, at, 1);
  if (format != ChannelFormat::kUnsigned8 && format != ChannelFormat::kSigned8) std::memcpy(&u16, at, 2);
  if (format == ChannelFormat::kWord) std::memcpy(&u32, at, 4);
  const auto s8 = static_cast<std::int8_t>(u8);
  const auto s16 = static_cast<std::int16_t>(u16);
  const float linear = static_cast<float>(u8) / 255.0F;
  switch (format) {
    case ChannelFormat::kUnsigned8:
      return u8;
    case ChannelFormat::kSigned8:
      return static_cast<std::uint32_t>(std::int32_t{s8});
    case ChannelFormat::kUnsigned16:
      return u16;
    case ChannelFormat::kSigned16:
      return static_cast<std::uint32_t>(std::int32_t{s16});
    case ChannelFormat::kHalf:
      return bits_of(half_value(u16));
    case ChannelFormat::kNormalized8:
      return bits_of(linear);
    case ChannelFormat::kNormalizedS8:
      return bits_of(s8 == -128 ? -1.0F : static_cast<float>(s8) / 127.0F);
    case ChannelFormat::kNormalized16:
      return bits_of(static_cast<float>(u16) / 65535.0F);
    case ChannelFormat::kNormalizedS16:
      return bits_of(s16 == -32768 ? -1.0F : static_cast<float>(s16) / 32767.0F);
    case ChannelFormat::kSrgb8:
      if (channel == 3) return bits_of(linear);
      return bits_of(linear <= 0.04045F ? linear / 12.92F
                                        : static_cast<float>(std::pow((linear + 0.055) / 1.055, 2.4)));
    default:
      return u32;
  }
}

// A block over texels, and the results of fetches from it.
class Image {
 public:
  Image(const ImageBlock& shape, const std::vector<std::byte>& texels) : texels_(texels), block_(1, shape) {
    block_[0].address = texels_.address();
  }

  std::uint64_t handle() const { return block_.address(); }
  const ImageBlock& block() const { return block_[0]; }

  Words texel(long i, long j, long k) const {
    Words words{};
    if (i < 0 || j < 0 || k < 0) {
      std::copy(std::begin(block().border), std::end(block().border), words.begin());
      return words;
    }
    const std::size_t at = static_cast<std::size_t>(k) * block().slice_bytes +
                           static_cast<std::size_t>(j) * block().row_bytes +
                           static_cast<std::size_t>(i) * block().texel_bytes;
    for (std::size_t c = 0; c < block().channels; ++c) {
      words[c] = channel_value(static_cast<ChannelFormat>(block().format),
                               &texels_[at + c * block().texel_bytes / block().channels], c);
    }
    return words;
  }

  /// -1: the border.
  long inside(long i, std::size_t dimension) const {
    const long n = extent(dimension);
    switch (static_cast<AddressMode>(block().modes[dimension])) {
      case AddressMode::kWrap:
        return ((i % n) + n) % n;
      case AddressMode::kMirror: {
        const long rest = ((i % (2 * n)) + 2 * n) % (2 * n);
        return rest < n ? rest : 2 * n - 1 - rest;
      }
      case AddressMode::kClamp:
        return std::min(std::max(i, 0L), n - 1);
      default:
        return i < 0 || i >= n ? -1 : i;
    }
  }

  long layer(std::uint32_t index) const { return std::min(index, block().depth - 1); }

  Words fetch(std::size_t dimensions, const Point& p, long slice) const {
    return texel(inside(p.i, 0), dimensions > 1 ? inside(p.j, 1) : 0,
                 dimensions > 2 ? inside(p.k, 2) : slice);
  }

  // In texels, from the begin of the dimension.
  double position(float x, std::size_t dimension) const {
    const auto mode = static_cast<AddressMode>(block().modes[dimension]);
    if ((block().flags & ImageBlock::kNormalizedCoordinates) == 0) return x;
    if (mode == AddressMode::kWrap) x -= std::floor(x);
    if (mode == AddressMode::kMirror) x -= 2 * std::floor(x / 2);
    return x * static_cast<float>(extent(dimension));  // rounded to single precision, as the device does
  }

  struct Neighbours {
    long first, second;
    double weight;
  };
  Neighbours around(float x, std::size_t dimension) const {
    // Beyond two periods nothing changes any more; repeated coordinates lie within the periods.
    const double most = 2.0 * static_cast<double>(extent(dimension)) + 2;
    const float middle = static_cast<float>(position(x, dimension)) - 0.5F;
    const double at = std::min(std::max(static_cast<double>(middle), -2.0), most);
    const auto below = static_cast<long>(std::floor(at));
    return {inside(below, dimension), inside(below + 1, dimension),
            std::nearbyint((at - std::floor(at)) * 256) / 256};
  }

  bool is_filtered() const { return (block().flags & ImageBlock::kLinearFilter) != 0; }

  Words sample(std::size_t dimensions, const Point& p, long slice) const {
    const float at[3] = {p.x, p.y, p.z};
    if (!is_filtered()) {
      long index[3] = {0, 0, slice};
      for (std::size_t d = 0; d < dimensions; ++d) {
        const double most = 2.0 * static_cast<double>(extent(d)) + 2;
        const double x = std::min(std::max(position(at[d], d), -2.0), most);
        index[d] = inside(static_cast<long>(std::floor(x)), d);
      }
      return texel(index[0], index[1], index[2]);
    }
    Neighbours around_it[3] = {{0, 0, 0}, {0, 0, 0}, {slice, slice, 0}};
    for (std::size_t d = 0; d < dimensions; ++d) around_it[d] = around(at[d], d);
    double sum[4] = {};
    for (unsigned corner = 0; corner < 8; ++corner) {
      double weight = 1;
      long index[3];
      for (std::size_t d = 0; d < 3; ++d) {
        const bool far = (corner >> d & 1) != 0;
        weight *= far ? around_it[d].weight : 1 - around_it[d].weight;
        index[d] = far ? around_it[d].second : around_it[d].first;
      }
      if (weight == 0) continue;
      const Words words = texel(index[0], index[1], index[2]);
      for (std::size_t c = 0; c < 4; ++c) sum[c] += weight * single(words[c]);
    }
    Words words{};
    for (std::size_t c = 0; c < 4; ++c) words[c] = bits_of(static_cast<float>(sum[c]));
    return words;
  }

  Words gather(const Point& p, std::size_t channel) const {
    const Neighbours a = around(p.x, 0);
    const Neighbours b = around(p.y, 1);
    return {texel(a.first, b.second, 0)[channel], texel(a.second, b.second, 0)[channel],
            texel(a.second, b.first, 0)[channel], texel(a.first, b.first, 0)[channel]};
  }

 private:
  long extent(std::size_t dimension) const {
    const std::uint32_t extents[3] = {block().width, block().height, block().depth};
    return extents[dimension];
  }

  Memory<std::byte> texels_;
  Memory<ImageBlock> block_;
};

}  // namespace fairgv::texture_test
