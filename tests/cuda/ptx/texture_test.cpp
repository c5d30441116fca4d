// Texture instructions against host arithmetic, on blocks of every format, filter and address mode: what a
// fetch gives is worked out here from the CUDA Programming Guide's "Texture Fetching" and the PTX ISA.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <sstream>

#include "cuda-shim/softcuda/translate/image_block.hpp"
#include "tests/cuda/ptx/device.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::texture_test {
namespace {

using ptx_test::Memory;
using ptx_test::Module;
using ptx_test::Parameters;
using softcuda::AddressMode;
using softcuda::ChannelFormat;
using softcuda::ImageBlock;
using Words = std::array<std::uint32_t, 4>;

// Where a fetch goes: coordinates as numbers and as integers, and a layer.
struct Point {
  float x = 0, y = 0, z = 0;
  std::int32_t i = 0, j = 0, k = 0;
  std::uint32_t layer = 0;
  std::uint32_t reserved = 0;
};

float single(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

float half_value(std::uint16_t h) {
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
  bool is_float;   // of what a fetch gives
};
constexpr Format kFormats[] = {
    {ChannelFormat::kWord, 4, true},          {ChannelFormat::kWord, 4, false},
    {ChannelFormat::kUnsigned8, 1, false},    {ChannelFormat::kSigned8, 1, false},
    {ChannelFormat::kUnsigned16, 2, false},   {ChannelFormat::kSigned16, 2, false},
    {ChannelFormat::kHalf, 2, true},          {ChannelFormat::kNormalized8, 1, true},
    {ChannelFormat::kNormalizedS8, 1, true},  {ChannelFormat::kNormalized16, 2, true},
    {ChannelFormat::kNormalizedS16, 2, true}, {ChannelFormat::kSrgb8, 1, true},
};

std::uint32_t channel_value(ChannelFormat format, const std::byte* at, std::size_t channel) {
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

// A block over texels, and what fetches of it give.
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

  // In texels, from where the dimension begins.
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
    // Beyond two periods nothing changes any more, but for what repeats, which is within them.
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

// ---- the instructions

struct Form {
  std::string text;  // {%d0, ...} is its result
  bool filters;
  std::function<Words(const Image&, const Point&)> expected;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> list = [] {
    const std::string to = " {%d0, %d1, %d2, %d3}, ";
    std::vector<Form> all;
    struct Shape {
      std::string name, numbers, integers;
      std::size_t dimensions;
      bool layered;
    };
    const Shape shapes[] = {{"1d", "%x", "%i", 1, false},
                            {"2d", "%x, %y", "%i, %j", 2, false},
                            {"3d", "%x, %y, %z, %z", "%i, %j, %k, %k", 3, false},
                            {"a1d", "%layer, %x", "%layer, %i", 1, true},
                            {"a2d", "%layer, %x, %y, %y", "%layer, %i, %j, %j", 2, true}};
    for (const Shape& shape : shapes) {
      const auto sampled = [shape](const Image& image, const Point& p) {
        return image.sample(shape.dimensions, p, shape.layered ? image.layer(p.layer) : 0);
      };
      const auto fetched = [shape](const Image& image, const Point& p) {
        return image.fetch(shape.dimensions, p, shape.layered ? image.layer(p.layer) : 0);
      };
      const std::string at = "[%t, {" + shape.numbers + "}]";
      // The type of the result says nothing about its bits.
      all.push_back({"tex." + shape.name + ".v4.u32.f32" + to + at + ";", true, sampled});
      all.push_back({"tex.level." + shape.name + ".v4.s32.f32" + to + at + ", 0f3F800000;", true, sampled});
      all.push_back(
          {"tex." + shape.name + ".v4.s32.s32" + to + "[%t, {" + shape.integers + "}];", false, fetched});
    }
    all.push_back({"tex.grad.2d.v4.u32.f32" + to + "[%t, {%x, %y}], {%x, %y}, {%y, %x};", true,
                   [](const Image& image, const Point& p) { return image.sample(2, p, 0); }});
    all.push_back({"tex.2d.v4.u32.f32 {%d0, %d1, %d2, %d3}|%there, [%t, {%x, %y}];\n@!%there mov.u32 %d0, 7;",
                   true, [](const Image& image, const Point& p) { return image.sample(2, p, 0); }});
    const std::string channels = "rgba";
    for (std::size_t c = 0; c < channels.size(); ++c) {
      all.push_back({"tld4." + channels.substr(c, 1) + ".2d.v4.u32.f32" + to + "[%t, {%x, %y}];", false,
                     [c](const Image& image, const Point& p) { return image.gather(p, c); }});
    }
    return all;
  }();
  return list;
}

std::string kernel_text() {
  std::ostringstream text;
  text << ".version 8.0\n.target sm_75\n.address_size 64\n"
          ".visible .entry textures(.param .u64 object, .param .u64 points, .param .u64 out, .param .u32 "
          "count)\n"
          "{\n.reg .pred %p, %there;\n.reg .f32 %x, %y, %z;\n"
          ".reg .b32 %i, %j, %k, %layer, %n, %m, %d<4>, %r<4>;\n.reg .b64 %t, %points, %out, %rd<4>;\n"
          "ld.param.u64 %t, [object];\nld.param.u64 %points, [points];\nld.param.u64 %out, [out];\n"
          "ld.param.u32 %m, [count];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
          "mad.lo.u32 %n, %r1, %r2, %r3;\nsetp.ge.u32 %p, %n, %m;\n@%p bra DONE;\n"
          "mad.wide.u32 %rd1, %n, 32, %points;\n"
       << "mad.wide.u32 %rd2, %n, " << forms().size() * 16
       << ", %out;\n"
          "ld.global.f32 %x, [%rd1];\nld.global.f32 %y, [%rd1+4];\nld.global.f32 %z, [%rd1+8];\n"
          "ld.global.b32 %i, [%rd1+12];\nld.global.b32 %j, [%rd1+16];\nld.global.b32 %k, [%rd1+20];\n"
          "ld.global.b32 %layer, [%rd1+24];\n";
  for (std::size_t form = 0; form < forms().size(); ++form) {
    text << forms()[form].text << "\nst.global.v4.u32 [%rd2+" << form * 16 << "], {%d0, %d1, %d2, %d3};\n";
  }
  text << "DONE:\nret;\n}\n";
  return text.str();
}

Module& kernel() {
  static Module module(kernel_text());
  return module;
}

std::mt19937_64& generator() {
  static std::mt19937_64 instance(harness::printed_seed());
  return instance;
}
unsigned below(unsigned count) {
  return static_cast<unsigned>(generator()() % count);
}
float between(double low, double high) {
  return static_cast<float>(std::uniform_real_distribution<double>(low, high)(generator()));
}

// Texels' edges and middles, inside and outside, exact and nearly; far away; and anywhere.
std::vector<Point> points(const ImageBlock& block) {
  const auto one = [&block](std::uint32_t extent) {
    const bool normalized = (block.flags & ImageBlock::kNormalizedCoordinates) != 0;
    const auto n = static_cast<float>(extent);
    float at = 0;
    switch (below(8)) {
      case 0:
        at = 0.5F * static_cast<float>(below(8 * extent)) - 2 * n;
        break;
      case 1:
        at = std::nextafter(static_cast<float>(below(3 * extent)) - n, below(2) != 0 ? 1e9F : -1e9F);
        break;
      case 2:
        at =
            static_cast<float>(static_cast<int>(below(1024 * extent)) - 256 * static_cast<int>(extent)) / 512;
        break;
      case 3:
        at = std::array{-1e30F, 1e30F, -3e9F, 3e9F, 16777217.0F, -0.0F}[below(6)];
        break;
      default:
        at = between(-3.0 * n, 4.0 * n);
    }
    return normalized ? at / n : at;
  };
  std::vector<Point> list(96);
  for (Point& p : list) {
    p = {one(block.width), one(block.height), one(block.depth)};
    const auto index = [](std::uint32_t extent) {
      if (below(16) == 0) return below(2) != 0 ? INT32_MAX : INT32_MIN;
      return static_cast<std::int32_t>(below(6 * extent)) - 2 * static_cast<std::int32_t>(extent);
    };
    p.i = index(block.width);
    p.j = index(block.height);
    p.k = index(block.depth);
    p.layer = below(16) == 0 ? UINT32_MAX : below(block.depth + 2);
  }
  return list;
}

bool is_close(std::uint32_t seen, std::uint32_t expected, float most) {
  if (seen == expected) return true;
  return std::abs(static_cast<double>(single(seen)) - single(expected)) <= 1e-5 * std::max(1.0F, most);
}

/// `largest`: of the texels. Not `exact`: within the errors of the conversion.
void compare(const Image& image, bool exact, float largest) {
  const std::vector<Point> list = points(image.block());
  Memory<Point> in(list);
  Memory<Words> out(list.size() * forms().size());
  kernel().launch("textures", {(list.size() + 31) / 32, 1, 1}, {32, 1, 1},
                  Parameters()
                      .add(image.handle())
                      .add(in.address())
                      .add(out.address())
                      .add(static_cast<std::uint32_t>(list.size())));
  for (std::size_t n = 0; n < list.size(); ++n) {
    for (std::size_t f = 0; f < forms().size(); ++f) {
      const Form& form = forms()[f];
      const Words expected = form.expected(image, list[n]);
      const Words seen = out[n * forms().size() + f];
      for (std::size_t c = 0; c < 4; ++c) {
        const bool same = exact && !(form.filters && image.is_filtered())
                              ? seen[c] == expected[c]
                              : is_close(seen[c], expected[c], largest);
        ASSERT_TRUE(same) << form.text << " at " << list[n].x << ' ' << list[n].y << ' ' << list[n].z << ", "
                          << list[n].i << ' ' << list[n].j << ' ' << list[n].k << ", layer " << list[n].layer
                          << ", channel " << c << ": " << std::hex << seen[c] << ", not " << expected[c];
      }
    }
  }
}

ImageBlock random_shape(const Format& format, bool filtered, bool normalized) {
  ImageBlock block;
  block.width = 1 + below(9);
  block.height = 1 + below(7);
  block.depth = 1 + below(5);
  block.channels = 1U << below(3);
  block.texel_bytes = format.bytes * block.channels;
  block.row_bytes = std::uint64_t{block.width} * block.texel_bytes + below(3) * 4;
  block.slice_bytes = block.row_bytes * block.height + below(3) * 64;
  block.format = static_cast<std::uint32_t>(format.format);
  if (normalized) block.flags |= ImageBlock::kNormalizedCoordinates;
  if (filtered) block.flags |= ImageBlock::kLinearFilter;
  for (std::uint32_t& border : block.border) border = format.is_float ? bits_of(between(-2, 2)) : below(1000);
  return block;
}

std::vector<std::byte> random_texels(const ImageBlock& block, const Format& format) {
  std::vector<std::byte> bytes(block.slice_bytes * block.depth + 4);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator()());
  // Numbers that a filter can add up.
  if (format.format == ChannelFormat::kWord && format.is_float) {
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      const float value = between(-100, 100);
      std::memcpy(&bytes[at], &value, 4);
    }
  }
  if (format.format == ChannelFormat::kHalf) {
    for (std::size_t at = 1; at < bytes.size(); at += 2) bytes[at] &= std::byte{0xd7};  // below 128
  }
  return bytes;
}

TEST(PtxTextures, EveryFormatFilterAndAddressModeGivesWhatTheGuideSays) {
  for (const Format& format : kFormats) {
    const bool wide = format.format == ChannelFormat::kWord || format.format == ChannelFormat::kHalf;
    const float largest = wide ? 128 : 1;
    for (const bool filtered : {false, true}) {
      if (filtered && !format.is_float) continue;
      for (const bool normalized : {false, true}) {
        for (std::uint32_t mode = 0; mode < 8; ++mode) {
          ImageBlock block = random_shape(format, filtered, normalized);
          // All dimensions alike, then each its own.
          for (std::uint32_t& each : block.modes) each = mode < 4 ? mode : below(4);
          const Image image(block, random_texels(block, format));
          SCOPED_TRACE(testing::Message()
                       << "format " << block.format << " x " << block.channels << ", flags " << block.flags
                       << ", modes " << block.modes[0] << block.modes[1] << block.modes[2] << ", "
                       << block.width << " x " << block.height << " x " << block.depth);
          compare(image, format.format != ChannelFormat::kSrgb8, largest);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(PtxTextures, CoordinatesThatAreNoNumbersReadNothingOutside) {
  const Format format = kFormats[0];
  for (std::uint32_t mode = 0; mode < 4; ++mode) {
    for (const bool filtered : {false, true}) {
      for (const bool normalized : {false, true}) {
        ImageBlock block = random_shape(format, filtered, normalized);
        for (std::uint32_t& each : block.modes) each = mode;
        for (std::uint32_t& border : block.border) border = bits_of(5);
        std::vector<std::byte> texels(block.slice_bytes * block.depth + 4);
        for (std::size_t at = 0; at + 4 <= texels.size(); at += 4) {
          const float five = 5;
          std::memcpy(&texels[at], &five, 4);
        }
        const Image image(block, texels);
        Memory<Point> in(3);
        const float odd[3] = {std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY};
        for (std::size_t n = 0; n < 3; ++n) in[n] = {odd[n], odd[(n + 1) % 3], odd[(n + 2) % 3]};
        Memory<Words> out(3 * forms().size());
        kernel().launch("textures", {1, 1, 1}, {32, 1, 1},
                        Parameters().add(image.handle()).add(in.address()).add(out.address()).add(3U));
        for (std::size_t n = 0; n < out.size(); ++n) {
          if (!forms()[n % forms().size()].filters) continue;
          EXPECT_EQ(single(out[n][0]), 5) << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fairgv::texture_test
