// Texture instructions against host arithmetic, on blocks of every format, filter and address mode.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <sstream>

#include "tests/cuda/ptx/texture_model.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::texture_test {
namespace {

using ptx_test::Module;
using ptx_test::Parameters;

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

// Points at texels' edges and middles, inside and outside, exact and nearly; far away; and anywhere.
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

/// `largest`: the largest of the texels. Not `exact`: within the errors of the conversion.
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
          // All dimensions have the same mode first, then each its own.
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
