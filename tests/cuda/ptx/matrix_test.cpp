// mma, ldmatrix and movmatrix against host arithmetic: registers are filled and read by the layouts that the
// PTX ISA states ("Matrix Fragments for mma"), written here as it states them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/cuda/ptx/device.hpp"
#include "tests/cuda/ptx/refusal.hpp"
#include "tests/harness/seed.hpp"

#include <random>

namespace {

using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::ptx_test::refusal_of;

constexpr const char* kHeading = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Place {
  int line, k;
};

struct Multiplication {
  std::string opcode;
  int m, k;
  int bits;  // of an element of A and B
  int a_registers, b_registers, c_registers;
  std::string type;                            // of registers of A and B: b32 or f64
  std::string sum;                             // f32, f16, f64, s32
  std::function<Place(int lane, int i)> a, b;  // of element i
  std::function<std::uint32_t(int)> encode;    // of a small integer
  int low = -5, high = 5;
  bool exclusive = false;  // b1: xor and popc
};

std::uint32_t half(int value) {
  const float real = static_cast<float>(value < 0 ? -value : value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &real, sizeof bits);
  return (value == 0 ? 0 : ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff)) | (value < 0 ? 0x8000U : 0);
}
std::uint32_t single(int value) {
  const float real = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &real, sizeof bits);
  return bits;
}
std::uint32_t bfloat(int value) {
  return single(value) >> 16;
}
// The lowest 13 bits of a register of tf32 mean nothing.
std::uint32_t tf32(int value) {
  return single(value) | 0x1abc;
}
std::uint32_t integer(int value) {
  return static_cast<std::uint32_t>(value);
}

std::vector<Multiplication> multiplications() {
  const auto g = [](int lane) { return lane >> 2; };
  const auto t = [](int lane) { return lane & 3; };
  // 16 bits: m16n8k8 and m16n8k16.
  const auto a16 = [=](int lane, int i) {
    const bool upper = (i >= 2 && i < 4) || i >= 6;
    return Place{g(lane) + (upper ? 8 : 0), t(lane) * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  };
  const auto b16 = [=](int lane, int i) { return Place{g(lane), t(lane) * 2 + (i & 1) + (i < 2 ? 0 : 8)}; };
  const auto a32 = [=](int lane, int i) {
    return Place{g(lane) + (i % 2 ? 8 : 0), t(lane) + (i < 2 ? 0 : 4)};
  };
  const auto b32 = [=](int lane, int i) { return Place{g(lane), t(lane) + (i == 0 ? 0 : 4)}; };
  const auto a64 = [=](int lane, int) { return Place{g(lane), t(lane)}; };
  // 8 bits: m8n8k16, m16n8k16 and m16n8k32.
  const auto a8 = [=](int lane, int i) {
    const bool lower = i < 4 || (i >= 8 && i < 12);
    return Place{g(lane) + (lower ? 0 : 8), t(lane) * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  };
  const auto b8 = [=](int lane, int i) { return Place{g(lane), t(lane) * 4 + (i & 3) + (i < 4 ? 0 : 16)}; };
  // 4 bits: m8n8k32, m16n8k32 and m16n8k64.
  const auto a4 = [=](int lane, int i) {
    const bool lower = i < 8 || (i >= 16 && i < 24);
    return Place{g(lane) + (lower ? 0 : 8), t(lane) * 8 + (i & 7) + (i < 16 ? 0 : 32)};
  };
  const auto b4 = [=](int lane, int i) { return Place{g(lane), t(lane) * 8 + (i & 7) + (i < 8 ? 0 : 32)}; };
  // 1 bit: m8n8k128, m16n8k128 and m16n8k256.
  const auto a1 = [=](int lane, int i) {
    const bool lower = i < 32 || (i >= 64 && i < 96);
    return Place{g(lane) + (lower ? 0 : 8), t(lane) * 32 + (i & 31) + (i < 64 ? 0 : 128)};
  };
  const auto b1 = [=](int lane, int i) {
    return Place{g(lane), t(lane) * 32 + (i & 31) + (i < 32 ? 0 : 128)};
  };
  const std::string mma = "mma.sync.aligned.";
  return {
      {mma + "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 16, 2, 1, 4, "b32", "f32", a16, b16, half},
      {mma + "m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, 4, 2, 4, "b32", "f32", a16, b16, half},
      {mma + "m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16, 4, 2, 2, "b32", "f16", a16, b16, half},
      {mma + "m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 16, 2, 1, 4, "b32", "f32", a16, b16, bfloat},
      {mma + "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 16, 4, 2, 4, "b32", "f32", a16, b16, bfloat},
      {mma + "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 32, 2, 1, 4, "b32", "f32", a32, b32, tf32},
      {mma + "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32, 4, 2, 4, "b32", "f32", a32, b32, tf32},
      {mma + "m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 64, 1, 1, 2, "f64", "f64", a64, a64, integer},
      {mma + "m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, 1, 1, 2, "b32", "s32", a8, b8, integer, -128, 127},
      {mma + "m16n8k16.row.col.s32.u8.u8.s32", 16, 16, 8, 2, 1, 4, "b32", "s32", a8, b8, integer, 0, 255},
      {mma + "m16n8k32.row.col.s32.s8.s8.s32", 16, 32, 8, 4, 2, 4, "b32", "s32", a8, b8, integer, -128, 127},
      {mma + "m16n8k32.row.col.satfinite.s32.u8.s8.s32", 16, 32, 8, 4, 2, 4, "b32", "s32", a8, b8, integer, 0,
       127},
      {mma + "m8n8k32.row.col.s32.u4.u4.s32", 8, 32, 4, 1, 1, 2, "b32", "s32", a4, b4, integer, 0, 15},
      {mma + "m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 4, 4, 2, 4, "b32", "s32", a4, b4, integer, -8, 7},
      {mma + "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 128, 1, 2, 1, 4, "b32", "s32", a1, b1, integer,
       0, 1},
      {mma + "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 256, 1, 4, 2, 4, "b32", "s32", a1, b1, integer,
       0, 1, true},
  };
}

// {%a0, %a1, ...}
std::string list(const std::string& name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + name + std::to_string(i);
  return text + "}";
}

// Every lane's registers of A, B and C lie one after the other at `p`; those of D go to `q`. Two products
// follow each other, so that the second one's registers do not disturb the first: D = A * B + (A * B + C).
std::string kernel_of(const Multiplication& x) {
  const std::string sum = x.sum == "f64" ? "f64" : x.sum == "f32" ? "f32" : "b32";
  const int bytes = x.type == "f64" ? 8 : 4, sum_bytes = x.sum == "f64" ? 8 : 4;
  const int total = (x.a_registers + x.b_registers) * bytes + x.c_registers * sum_bytes;
  std::string text =
      std::string(kHeading) + ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .b64 %p, %q, %o;\n" +
      ".reg .b32 %t;\n.reg ." + x.type + " %a<4>, %b<4>;\n.reg ." + sum + " %c<4>, %d<4>, %e<4>;\n" +
      "ld.param.u64 %p, [p];\nld.param.u64 %q, [q];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, " +
      std::to_string(total) + ";\nadd.s64 %p, %p, %o;\nmul.wide.u32 %o, %t, " +
      std::to_string(x.c_registers * sum_bytes) + ";\nadd.s64 %q, %q, %o;\n";
  int at = 0;
  const auto load = [&](const std::string& name, int count, const std::string& type, int size) {
    for (int i = 0; i < count; ++i, at += size)
      text += "ld.global." + type + " %" + name + std::to_string(i) + ", [%p+" + std::to_string(at) + "];\n";
  };
  load("a", x.a_registers, x.type, bytes);
  load("b", x.b_registers, x.type, bytes);
  load("c", x.c_registers, sum, sum_bytes);
  const std::string factors = list("a", x.a_registers) + ", " + list("b", x.b_registers) + ", ";
  text += x.opcode + " " + list("d", x.c_registers) + ", " + factors + list("c", x.c_registers) + ";\n";
  text += x.opcode + " " + list("e", x.c_registers) + ", " + factors + list("d", x.c_registers) + ";\n";
  for (int i = 0; i < x.c_registers; ++i)
    text +=
        "st.global." + sum + " [%q+" + std::to_string(i * sum_bytes) + "], %e" + std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

class Registers {
 public:
  explicit Registers(std::size_t bytes) : memory_(bytes) {}
  void put(int at, int bits, std::uint64_t value) {
    for (int i = 0; i < bits; ++i) {
      const auto byte = static_cast<std::size_t>(at + i) / 8;
      memory_[byte] = static_cast<std::uint8_t>(memory_[byte] | (value >> i & 1) << ((at + i) % 8));
    }
  }
  std::uint64_t get(int at, int bits) const {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i)
      value |= std::uint64_t{memory_[static_cast<std::size_t>(at + i) / 8]} >> ((at + i) % 8) % 8 & 1
                   ? std::uint64_t{1} << i
                   : 0;
    return value;
  }
  std::uint64_t address() const { return memory_.address(); }

 private:
  Memory<std::uint8_t> memory_;
};

std::uint64_t encoded(const std::string& type, int value) {
  if (type == "f64") {
    const double real = value;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &real, sizeof bits);
    return bits;
  }
  if (type == "s32") return static_cast<std::uint32_t>(value);
  return type == "f16" ? half(value) : single(value);
}

TEST(PtxMatrix, MmaFollowsTheLayoutsOfPtx) {
  std::mt19937_64 generator(fairgv::harness::printed_seed());
  for (const Multiplication& x : multiplications()) {
    SCOPED_TRACE(x.opcode);
    const auto any = [&](int low, int high) {
      return low + static_cast<int>(generator() % static_cast<unsigned>(high - low + 1));
    };
    std::vector<int> a(static_cast<std::size_t>(x.m * x.k)), b(static_cast<std::size_t>(8 * x.k)),
        c(static_cast<std::size_t>(x.m * 8));
    for (int& each : a) each = any(x.low, x.high);
    for (int& each : b) each = any(x.low, x.high);
    for (int& each : c) each = any(-50, 50);
    const int word = x.type == "f64" ? 64 : 32, sum_bits = x.sum == "f16" ? 16 : x.sum == "f64" ? 64 : 32;
    const int sum_word = std::max(32, sum_bits);
    const int lane_bits = (x.a_registers + x.b_registers) * word + x.c_registers * sum_word;
    Registers in(static_cast<std::size_t>(lane_bits * 32 / 8)),
        out(static_cast<std::size_t>(x.c_registers * sum_word * 32 / 8));
    const auto place_of_c = [](int lane, int i) {
      return Place{(lane >> 2) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)};
    };
    const int sums = x.c_registers * sum_word / sum_bits;
    for (int lane = 0; lane < 32; ++lane) {
      int at = lane * lane_bits;
      for (int i = 0; i < x.a_registers * word / x.bits; ++i, at += x.bits) {
        const auto [row, k] = x.a(lane, i);
        const int value = a[static_cast<std::size_t>(row * x.k + k)];
        in.put(at, x.bits, x.bits == 64 ? encoded("f64", value) : x.encode(value));
      }
      for (int i = 0; i < x.b_registers * word / x.bits; ++i, at += x.bits) {
        const auto [column, k] = x.b(lane, i);
        const int value = b[static_cast<std::size_t>(column * x.k + k)];
        in.put(at, x.bits, x.bits == 64 ? encoded("f64", value) : x.encode(value));
      }
      for (int i = 0; i < sums; ++i, at += sum_bits) {
        const auto [row, column] = place_of_c(lane, i);
        in.put(at, sum_bits, encoded(x.sum, c[static_cast<std::size_t>(row * 8 + column)]));
      }
    }
    Module module(kernel_of(x));
    module.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(in.address()).add(out.address()));
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < sums; ++i) {
        const auto [row, column] = place_of_c(lane, i);
        int sum = 0;
        for (int k = 0; k < x.k; ++k) {
          const int left = a[static_cast<std::size_t>(row * x.k + k)],
                    right = b[static_cast<std::size_t>(column * x.k + k)];
          sum += x.exclusive ? left ^ right : left * right;
        }
        const int expected = 2 * sum + c[static_cast<std::size_t>(row * 8 + column)];
        ASSERT_EQ(out.get((lane * sums + i) * sum_bits, sum_bits), encoded(x.sum, expected))
            << lane << ' ' << i;
      }
    }
  }
}

TEST(PtxMatrix, ASaturatingSumStaysAtItsBound) {
  const std::string opcode = "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32";
  for (const bool saturates : {true, false}) {
    Multiplication x{saturates ? opcode : "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
                     8,
                     16,
                     8,
                     1,
                     1,
                     2,
                     "b32",
                     "s32",
                     {},
                     {},
                     {}};
    Memory<std::uint32_t> in(32 * 4, 0x7f7f7f7f), out(64);
    for (std::size_t lane = 0; lane < 32; ++lane) in[lane * 4 + 2] = in[lane * 4 + 3] = 0x7fffffff;
    Module module(kernel_of(x));
    module.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(in.address()).add(out.address()));
    EXPECT_EQ(out[0], saturates ? 0x7fffffffU : 0x7fffffffU + 2 * 16 * 127 * 127);
  }
}

TEST(PtxMatrix, LdmatrixGivesEveryLaneItsHalvesOfTheRows) {
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const std::string registers = list("r", count);
      std::string text =
          std::string(kHeading) +
          ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.shared .align 16 .b8 s[512];\n"
          ".reg .b64 %p, %q, %o, %v<2>;\n.reg .b32 %t, %a, %r<4>;\nld.param.u64 %p, [p];\n"
          "ld.param.u64 %q, [q];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 16;\nadd.s64 %p, %p, %o;\n"
          "add.s64 %q, %q, %o;\nld.global.v2.u64 {%v0, %v1}, [%p];\nmov.u32 %a, s;\n"
          "mad.lo.u32 %a, %t, 16, %a;\nst.shared.v2.u64 [%a], {%v0, %v1};\nbar.sync 0;\n";
      text += "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
              ".shared.b16 " + registers + ", [%a];\n";
      // The row is overwritten at once, which must not change what the other lanes get.
      text += "st.shared.v2.u64 [%a], {0, 0};\n";
      for (int i = 0; i < count; ++i)
        text += "st.global.u32 [%q+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
      Module module(text + "ret;\n}\n");
      Memory<std::uint16_t> in(256), out(256);
      for (std::size_t i = 0; i < 256; ++i) in[i] = static_cast<std::uint16_t>(i * 257 + 3);
      module.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(in.address()).add(out.address()));
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(2 * count); ++i) {
          const std::size_t matrix = i / 2, row = lane / 4, column = lane % 4 * 2 + i % 2;
          const std::size_t from = matrix * 64 + (transposed ? column * 8 + row : row * 8 + column);
          ASSERT_EQ(out[lane * 8 + i], in[from]) << count << ' ' << transposed << ' ' << lane << ' ' << i;
        }
      }
    }
  }
}

TEST(PtxMatrix, MovmatrixTransposes) {
  Module module(
      std::string(kHeading) +
      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %p, %o;\n.reg .b32 %t, %r;\nld.param.u64 %p, [p];\n"
      "mov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nadd.s64 %p, %p, %o;\nld.global.u32 %r, [%p];\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r, %r;\nst.global.u32 [%p], %r;\nret;\n}\n");
  Memory<std::uint16_t> values(64);
  for (std::size_t i = 0; i < 64; ++i) values[i] = static_cast<std::uint16_t>(i);
  module.launch("k", {1, 1, 1}, {32, 1, 1}, Parameters().add(values.address()));
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) ASSERT_EQ(values[row * 8 + column], column * 8 + row);
  }
}

TEST(PtxMatrix, WhatIsNotSupportedIsNamed) {
  for (const std::string statement : {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, "
                                      "%f4, %f5, %f6, %f7}, {%r0, %r1}, "
                                      "{%r2, %r3}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};",
                                      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, "
                                      "%f3}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, "
                                      "%f2, %f3}, %r0, 0;",
                                      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, "
                                      "%f3}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, "
                                      "%f2, %f3};",
                                      "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%d], 32;",
                                      "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%d];"}) {
    const std::string text = refusal_of(std::string(kHeading) +
                                        ".entry k()\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<8>;\n.reg .b64 %d;\n" +
                                        statement + "\nret;\n}\n");
    EXPECT_TRUE(text.starts_with("PTX line 9: `" + statement.substr(0, statement.find(' ')))) << text;
    EXPECT_NE(text.find("support"), std::string::npos) << text;
  }
}

}  // namespace
