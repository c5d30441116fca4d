// Surface instructions, queries and cubemaps against host arithmetic, and texture instructions that are
// refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <sstream>

#include "cuda-shim/softcuda/translate/image_block.hpp"
#include "tests/cuda/ptx/device.hpp"
#include "tests/cuda/ptx/refusal.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::surface_test {
namespace {

using ptx_test::Memory;
using ptx_test::Module;
using ptx_test::Parameters;
using softcuda::ImageBlock;
using softcuda::TrapKind;

constexpr const char* kHeading = ".version 8.0\n.target sm_75\n.address_size 64\n";

struct Shape {
  std::string name, coordinates;
  bool has_y, has_z;
};
const Shape kShapes[] = {{"1d", "%x", false, false},
                         {"2d", "%x, %y", true, false},
                         {"3d", "%x, %y, %z, %z", true, true},
                         {"a1d", "%z, %x", false, true},
                         {"a2d", "%z, %x, %y, %y", true, true}};
struct Access {
  std::string words;
  unsigned elements, bytes;  // of an element
};
const Access kAccesses[] = {{"b8", 1, 1},    {"b16", 1, 2},    {"b32", 1, 4},    {"b64", 1, 8},
                            {"v2.b8", 2, 1}, {"v2.b16", 2, 2}, {"v2.b32", 2, 4}, {"v2.b64", 2, 8},
                            {"v4.b8", 4, 1}, {"v4.b16", 4, 2}, {"v4.b32", 4, 4}};

std::string name_of(const Shape& shape, const Access& access, const std::string& outside) {
  std::string name = "k_" + shape.name + "_" + access.words + "_" + outside;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

// Loads the element at (x, y, z) into `out`, and stores the element at `in` there.
std::string kernel_text(const Shape& shape, const Access& access, const std::string& outside) {
  const bool wide = access.bytes == 8;
  const std::string reg = wide ? "%w" : access.bytes == 4 ? "%r" : "%h";
  const std::string bits = access.bytes == 8   ? "b64"
                           : access.bytes == 4 ? "b32"
                           : access.bytes == 2 ? "b16"
                                               : "b8";
  std::string vector;
  std::ostringstream text;
  for (unsigned e = 0; e < access.elements; ++e) vector += (e == 0 ? "" : ", ") + reg + std::to_string(e);
  text << ".visible .entry " << name_of(shape, access, outside)
       << "(.param .u64 object, .param .u64 in, .param .u64 out, .param .u32 x, .param .u32 y, .param .u32 "
          "z)\n{\n"
          ".reg .b32 %x, %y, %z, %r<4>;\n.reg .b16 %h<4>;\n.reg .b64 %s, %in, %out, %w<4>;\n"
          "ld.param.u64 %s, [object];\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
          "ld.param.u32 %x, [x];\nld.param.u32 %y, [y];\nld.param.u32 %z, [z];\n"
       << "suld.b." << shape.name << '.' << access.words << '.' << outside << " {" << vector << "}, [%s, {"
       << shape.coordinates << "}];\n";
  for (unsigned e = 0; e < access.elements; ++e) {
    text << "st.global." << bits << " [%out+" << e * access.bytes << "], " << reg << e << ";\n"
         << "ld.global." << bits << ' ' << reg << e << ", [%in+" << e * access.bytes << "];\n";
  }
  text << "sust.b." << shape.name << '.' << access.words << '.' << outside << " [%s, {" << shape.coordinates
       << "}], {" << vector << "};\nret;\n}\n";
  return text.str();
}

std::mt19937_64& dice() {
  static std::mt19937_64 instance(harness::printed_seed());
  return instance;
}
int number(int low, int high) {
  return low + static_cast<int>(dice()() % static_cast<unsigned>(high - low + 1));
}

/// The place that the access reaches; nothing: it lies outside.
std::optional<std::size_t> place(const ImageBlock& block, const Shape& shape, std::size_t bytes, bool clamped,
                                 int x, int y, int z) {
  const int last[3] = {static_cast<int>(block.width * block.texel_bytes) - static_cast<int>(bytes),
                       static_cast<int>(block.height) - 1, static_cast<int>(block.depth) - 1};
  int at[3] = {x, shape.has_y ? y : 0, shape.has_z ? z : 0};
  for (int d = 0; d < 3; ++d) {
    if (clamped) at[d] = std::min(std::max(at[d], 0), last[d]);
    if (at[d] < 0 || at[d] > last[d]) return std::nullopt;
  }
  return static_cast<std::size_t>(at[2]) * block.slice_bytes +
         static_cast<std::size_t>(at[1]) * block.row_bytes + static_cast<std::size_t>(at[0]);
}

// Every access in two shapes, every shape in several accesses; all pairs would take too long to compile.
struct Case {
  const Shape* shape;
  const Access* access;
  bool clamped;

  std::string outside() const { return clamped ? "clamp" : "zero"; }
};
std::vector<Case> cases() {
  std::vector<Case> list;
  for (std::size_t a = 0; a < std::size(kAccesses); ++a) {
    list.push_back({&kShapes[a % std::size(kShapes)], &kAccesses[a], a % 2 == 0});
    list.push_back({&kShapes[(a + 2) % std::size(kShapes)], &kAccesses[a], a % 2 != 0});
  }
  return list;
}

TEST(PtxSurfaces, EveryAccessReadsAndWritesItsBytesInsideAndWhatItAskedForOutside) {
  std::string text = kHeading;
  for (const Case& each : cases()) text += kernel_text(*each.shape, *each.access, each.outside());
  Module module(text);
  ImageBlock shape_of_all;
  shape_of_all.width = 8;
  shape_of_all.height = 5;
  shape_of_all.depth = 3;
  shape_of_all.texel_bytes = 8;
  shape_of_all.row_bytes = 80;
  shape_of_all.slice_bytes = 416;
  std::vector<std::uint8_t> expected(shape_of_all.slice_bytes * 3);
  for (std::uint8_t& byte : expected) byte = static_cast<std::uint8_t>(dice()());
  Memory<std::uint8_t> texels(expected);
  Memory<ImageBlock> block(1, shape_of_all);
  block[0].address = texels.address();
  Memory<std::uint8_t> in(32), out(32);
  for (const Case& each : cases()) {
    const Shape& shape = *each.shape;
    const Access& access = *each.access;
    const unsigned bytes = access.bytes * access.elements;
    const std::string name = name_of(shape, access, each.outside());
    for (int times = 0; times < 40; ++times) {
      const int x = number(-2, 9) * static_cast<int>(bytes);
      const int y = number(-1, 5), z = number(-1, 3);
      for (unsigned b = 0; b < bytes; ++b) {
        in[b] = static_cast<std::uint8_t>(dice()());
        out[b] = 0xaa;
      }
      module.launch(
          name, {1, 1, 1}, {1, 1, 1},
          Parameters().add(block.address()).add(in.address()).add(out.address()).add(x).add(y).add(z));
      const auto at = place(block[0], shape, bytes, each.clamped, x, y, z);
      for (unsigned b = 0; b < bytes; ++b) {
        ASSERT_EQ(out[b], at ? expected[*at + b] : 0) << name << ' ' << x << ' ' << y << ' ' << z;
        if (at) expected[*at + b] = in[b];
      }
      ASSERT_TRUE(std::equal(texels.begin(), texels.end(), expected.begin()))
          << name << ' ' << x << ' ' << y << ' ' << z;
    }
  }
}

TEST(PtxSurfaces, AnAccessOutsideTrapsWhereThatIsAskedFor) {
  Module module(std::string(kHeading) + kernel_text(kShapes[1], kAccesses[2], "trap") +
                // The same access where threads run one after the other.
                ".visible .entry stepped(.param .u64 object)\n{\n.reg .b32 %r<4>;\n.reg .b64 %s;\n"
                "ld.param.u64 %s, [object];\nmov.u32 %r1, %tid.x;\n"
                "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nshl.b32 %r3, %r2, 2;\n"
                "sust.b.2d.b32.trap [%s, {%r3, %r1}], {%r2};\nret;\n}\n");
  Memory<std::uint32_t> texels(32 * 32);
  ImageBlock shape;
  shape.address = texels.address();
  shape.width = shape.height = 31;
  shape.texel_bytes = 4;
  shape.row_bytes = 128;
  Memory<ImageBlock> block(1, shape);
  Memory<std::uint32_t> in(4), out(4, 7);
  const std::string name = name_of(kShapes[1], kAccesses[2], "trap");
  const auto launch = [&](int x, int y) {
    module.launch(
        name, {1, 1, 1}, {1, 1, 1},
        Parameters().add(block.address()).add(in.address()).add(out.address()).add(x).add(y).add(0));
    return module.runtime().trap_kind;
  };
  EXPECT_EQ(launch(30 * 4, 30), static_cast<std::uint32_t>(TrapKind::kNone));
  EXPECT_EQ(out[0], 0U);
  EXPECT_EQ(launch(31 * 4, 30), static_cast<std::uint32_t>(TrapKind::kSurface));
  EXPECT_EQ(launch(0, 31), static_cast<std::uint32_t>(TrapKind::kSurface));
  EXPECT_EQ(launch(-4, 0), static_cast<std::uint32_t>(TrapKind::kSurface));
  module.launch("stepped", {1, 1, 1}, {32, 1, 1}, Parameters().add(block.address()));
  EXPECT_TRUE(module.info("stepped").stepped);
  EXPECT_EQ(module.runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kSurface));
  for (std::uint32_t thread = 0; thread < 30; ++thread)
    EXPECT_EQ(texels[thread * 32 + (thread ^ 1)], thread ^ 1);
}

TEST(PtxTextures, WhatAnObjectIsCanBeAsked) {
  Module module(
      std::string(kHeading) +
      ".visible .entry ask(.param .u64 object, .param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %t, %out;\n"
      "ld.param.u64 %t, [object];\nld.param.u64 %out, [out];\n"
      "txq.width.b32 %r1, [%t];\ntxq.height.b32 %r2, [%t];\nsuq.depth.b32 %r3, [%t];\n"
      "txq.normalized_coords.b32 %r4, [%t];\ntxq.num_mipmap_levels.b32 %r5, [%t];\n"
      "st.global.v4.b32 [%out], {%r1, %r2, %r3, %r4};\nst.global.b32 [%out+16], %r5;\nret;\n}\n");
  ImageBlock shape;
  shape.width = 11;
  shape.height = 22;
  shape.depth = 33;
  shape.flags = ImageBlock::kNormalizedCoordinates;
  Memory<ImageBlock> block(1, shape);
  Memory<std::uint32_t> out(5);
  module.launch("ask", {1, 1, 1}, {1, 1, 1}, Parameters().add(block.address()).add(out.address()));
  const std::uint32_t expected[] = {11, 22, 33, 1, 1};
  EXPECT_TRUE(std::equal(out.begin(), out.end(), expected));
}

// A face's middle is its first texel here; the guide's table gives the direction of the face's coordinates.
TEST(PtxTextures, ADirectionFindsItsFaceAndTheTexelOnIt) {
  Module module(
      std::string(kHeading) +
      ".visible .entry look(.param .u64 object, .param .u64 ways, .param .u64 out, .param .u32 layer)\n{\n"
      ".reg .b32 %n, %d<4>, %layer;\n.reg .f32 %x, %y, %z;\n.reg .b64 %t, %ways, %out, %at;\n"
      "ld.param.u64 %t, [object];\nld.param.u64 %ways, [ways];\nld.param.u64 %out, [out];\n"
      "ld.param.u32 %layer, [layer];\nmov.u32 %n, %tid.x;\nmad.wide.u32 %at, %n, 12, %ways;\n"
      "ld.global.f32 %x, [%at];\nld.global.f32 %y, [%at+4];\nld.global.f32 %z, [%at+8];\n"
      "mad.wide.u32 %at, %n, 8, %out;\n"
      "tex.cube.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y, %z, %z}];\nst.global.b32 [%at], %d0;\n"
      "tex.acube.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%layer, %x, %y, %z}];\n"
      "st.global.b32 [%at+4], %d0;\nret;\n}\n");
  constexpr std::uint32_t kWidth = 4, kLayers = 3;
  Memory<std::uint32_t> texels(kWidth * kWidth * 6 * kLayers);
  for (std::uint32_t i = 0; i < texels.size(); ++i) texels[i] = i;
  ImageBlock shape;
  shape.address = texels.address();
  shape.width = shape.height = kWidth;
  shape.depth = 6 * kLayers;
  shape.texel_bytes = 4;
  shape.channels = 1;
  shape.row_bytes = kWidth * 4;
  shape.slice_bytes = kWidth * kWidth * 4;
  shape.flags = ImageBlock::kNormalizedCoordinates;
  Memory<ImageBlock> block(1, shape);
  struct Way {
    float x, y, z;
  };
  std::vector<Way> ways(64);
  std::vector<std::uint32_t> expected;
  for (Way& way : ways) {
    const int axis = number(0, 2);
    const float m = number(0, 1) != 0 ? 1.0F : -1.0F;
    // Middles of texels, away from the faces' edges: -3/4, -1/4, 1/4, 3/4.
    const float a = static_cast<float>(2 * number(0, 3) - 3) / 4,
                b = static_cast<float>(2 * number(0, 3) - 3) / 4;
    way = axis == 0 ? Way{m, a, b} : axis == 1 ? Way{a, m, b} : Way{a, b, m};
    const float s = axis == 0 ? -m * way.z : axis == 1 ? way.x : m * way.x;
    const float t = axis == 1 ? m * way.z : -way.y;
    const int face = 2 * axis + (m < 0 ? 1 : 0);
    const auto texel = [](float x) { return static_cast<std::uint32_t>((x + 1) / 2 * kWidth); };
    expected.push_back((static_cast<std::uint32_t>(face) * kWidth + texel(t)) * kWidth + texel(s));
    const float scale = static_cast<float>(number(1, 9));
    way = {way.x * scale, way.y * scale, way.z * scale};
  }
  Memory<Way> in(ways);
  Memory<std::uint32_t> out(ways.size() * 2);
  for (const std::uint32_t layer : {0U, 1U, 2U, 7U}) {
    module.launch("look", {1, 1, 1}, {ways.size(), 1, 1},
                  Parameters().add(block.address()).add(in.address()).add(out.address()).add(layer));
    for (std::size_t n = 0; n < ways.size(); ++n) {
      EXPECT_EQ(out[2 * n], expected[n]);
      EXPECT_EQ(out[2 * n + 1], expected[n] + std::min(layer, kLayers - 1) * 6 * kWidth * kWidth);
    }
  }
}

std::string refusal(const std::string& body, const std::string& outside = "") {
  return ptx_test::refusal_of(kHeading + outside +
                              "\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n"
                              ".reg .b64 %t;\nld.param.u64 %t, [p];\n" +
                              body + "\nret;\n}\n");
}

TEST(PtxTextures, WhatIsNotSupportedIsNamedWithItsLine) {
  const std::string to = "{%r0, %r1, %r2, %r3}, ";
  EXPECT_EQ(refusal("tex.2d.v4.u32.f32 " + to + "[%t, {%f0, %f1}];"), "");
  for (const char* kind : {"texref", "samplerref", "surfref"}) {
    const std::string text = refusal("", std::string(".global .") + kind + " reference;");
    EXPECT_NE(text.find("PTX line 4"), std::string::npos) << text;
    EXPECT_NE(text.find("use texture and surface objects"), std::string::npos) << text;
  }
  const std::vector<std::string> bodies{"tex.2d.v4.u32.f32 " + to + "[reference, {%f0, %f1}];",
                                        "tex.2d.v4.u32.f32 " + to + "[%t, %t, {%f0, %f1}];",
                                        "tex.2dms.v4.u32.s32 " + to + "[%t, {%r0, %r1, %r2, %r3}];",
                                        "tex.2d.v2.f16x2.f32 {%r0, %r1}, [%t, {%f0, %f1}];",
                                        "tex.2d.v4.u32.f32 " + to + "[%t, {%f0, %f1}], {%r1, %r2};",
                                        "tex.2d.v4.u32.f32 " + to + "[%t, {%f0}];",
                                        "tld4.r.a2d.v4.u32.f32 " + to + "[%t, {%r0, %f0, %f1, %f1}];",
                                        "sured.b.add.2d.u32.trap [%t, {%r0, %r1}], %r2;",
                                        "sust.p.2d.b32.trap [%t, {%r0, %r1}], {%r2};",
                                        "txq.filter_mode.b32 %r0, [%t];"};
  for (const std::string& body : bodies) {
    const std::string text = refusal(body);
    EXPECT_TRUE(text.starts_with("PTX line 11: `" + body + "`: ")) << body << ": " << text;
  }
}

TEST(PtxTextures, OnlyModulesThatUseThemPayForThem) {
  const auto source = [](const std::string& body) {
    return softcuda::translate(std::string(kHeading) +
                               ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r;\n" +
                               ".reg .b64 %t;\nld.param.u64 %t, [p];\n" + body + "ret;\n}\n")
        .value()
        .source();
  };
  EXPECT_EQ(source("").find("fgv_image"), std::string::npos);
  EXPECT_NE(source("suld.b.1d.b32.zero {%r}, [%t, {%r}];\n").find("fgv_image"), std::string::npos);
}

}  // namespace
}  // namespace fairgv::surface_test
