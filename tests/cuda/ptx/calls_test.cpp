// Calls that are jumps (programs/calls.cu): through pointers, virtual, recursive; and what a function that
// cannot be translated does to the kernels that may call it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/cuda/ptx/kernels.hpp"

namespace {

using fairgv::ptx_test::compiled;
using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::ptx_test::random_integers;
using fairgv::softcuda::TrapKind;

// The module is built once and used by all tests.
Module& calls() {
  static Module module(compiled("calls_sm_75"));
  return module;
}

std::uint32_t trap_kind() {
  return calls().runtime().trap_kind;
}

TEST(PtxCalls, ThroughTablesOfFunctions) {
  const auto which = random_integers<int>(64, 0, 2);
  const auto in = random_integers<int>(64, -1000, 1000);
  Memory<int> choices(which), values(in);
  calls().launch("by_table", {2, 1, 1}, {32, 1, 1},
                 Parameters().add(choices.address()).add(values.address()));
  ASSERT_EQ(trap_kind(), static_cast<std::uint32_t>(TrapKind::kNone));
  for (std::size_t i = 0; i < 64; ++i) {
    const int first = which[i] == 0 ? in[i] + 3 : which[i] == 1 ? in[i] - 3 : in[i] * 3;
    ASSERT_EQ(values[i], i % 2 == 0 ? first * 5 : first + 5) << i;
  }
}

TEST(PtxCalls, AFunctionThatCannotBeTranslatedFailsWhenItIsCalled) {
  Memory<int> choices(std::vector<int>{3}), values(std::vector<int>{1});
  calls().launch("by_table", {1, 1, 1}, {1, 1, 1}, Parameters().add(choices.address()).add(values.address()));
  ASSERT_EQ(trap_kind(), static_cast<std::uint32_t>(TrapKind::kRefused));
  const std::string reason = reinterpret_cast<const char*>(calls().runtime().trap_message);
  EXPECT_NE(reason.find("unknown"), std::string::npos) << reason;
  EXPECT_NE(reason.find("fence.proxy.tensormap"), std::string::npos) << reason;
}

TEST(PtxCalls, APointerGoesThroughTheHost) {
  Memory<std::uint64_t> pointer(1);
  Memory<int> value(std::vector<int>{5});
  for (const int which : {0, 1}) {
    calls().launch("take_pointer", {1, 1, 1}, {1, 1, 1}, Parameters().add(pointer.address()).add(which));
    EXPECT_NE(pointer[0], 0u);
    calls().launch("call_pointer", {1, 1, 1}, {1, 1, 1}, Parameters().add(pointer[0]).add(value.address()));
  }
  EXPECT_EQ(value[0], (5 + 7) * 7);
  calls().launch("call_pointer", {1, 1, 1}, {1, 1, 1},
                 Parameters().add(std::uint64_t{0x123456}).add(value.address()));
  EXPECT_EQ(trap_kind(), static_cast<std::uint32_t>(TrapKind::kNoFunction));
  calls().launch("call_pointer", {1, 1, 1}, {1, 1, 1},
                 Parameters().add(std::uint64_t{0}).add(value.address()));
  EXPECT_EQ(trap_kind(), static_cast<std::uint32_t>(TrapKind::kNoFunction));
}

TEST(PtxCalls, StructuresAreParametersAndResults) {
  struct Big {
    double values[5];
    std::int16_t rest;
  };
  Memory<Big> in(4), out(4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t n = 0; n < 5; ++n) in[i].values[n] = static_cast<double>(i * 10 + n);
    in[i].rest = static_cast<std::int16_t>(i);
  }
  calls().launch("structures", {1, 1, 1}, {4, 1, 1},
                 Parameters().add(in.address()).add(out.address()).add(2.5));
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t n = 0; n < 5; ++n) {
      const double value = static_cast<double>(i * 10 + n);
      ASSERT_EQ(out[i].values[n], i % 2 == 0 ? value * 2.5 : value + 2.5) << i << ' ' << n;
    }
    ASSERT_EQ(out[i].rest, static_cast<int>(i) + (i % 2 == 0 ? 1 : 0));
  }
}

TEST(PtxCalls, VirtualFunctions) {
  Memory<std::byte> places(30 * 64);
  Memory<float> out(30);
  calls().launch("virtual_functions", {1, 1, 1}, {30, 1, 1},
                 Parameters().add(places.address()).add(out.address()));
  for (std::size_t i = 0; i < 30; ++i) {
    const float side = static_cast<float>(i);
    const float edge = 4 * side;
    const float area = i % 3 == 0 ? side * side : 2 * side * side + edge * 0.5f;
    ASSERT_EQ(out[i], area + edge) << i;
  }
}

TEST(PtxCalls, RecursionKeepsWhatItsCallsMustNotChange) {
  Memory<int> out(18);
  calls().launch("recursive", {1, 1, 1}, {18, 1, 1}, Parameters().add(out.address()));
  for (std::size_t i = 0; i < 18; ++i) {
    ASSERT_EQ(out[i], i < 2 ? static_cast<int>(i) : out[i - 1] + out[i - 2]) << i;
  }
}

TEST(PtxCalls, FunctionsThatCallEachOther) {
  Memory<int> out(40);
  calls().launch("mutual", {1, 1, 1}, {40, 1, 1}, Parameters().add(out.address()));
  for (std::size_t i = 0; i < 40; ++i) ASSERT_EQ(out[i], i % 2 == 0 ? 1 : 0) << i;
}

int best_path(const int* tree, int node, int sum) {
  sum += tree[node];
  if (node * 2 + 2 >= 31) return sum;
  return std::max(best_path(tree, node * 2 + 1, sum), best_path(tree, node * 2 + 2, sum));
}

TEST(PtxCalls, RecursionWithArraysOfItsOwn) {
  const auto in = random_integers<int>(31 * 20, -1000, 1000);
  Memory<int> tree(in), out(20);
  calls().launch("search", {1, 1, 1}, {20, 1, 1}, Parameters().add(tree.address()).add(out.address()));
  for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(out[i], best_path(&in[31 * i], 0, 0)) << i;
}

TEST(PtxCalls, BarriersAndWarpOperationsWithinARecursion) {
  constexpr int kTimes = 5;
  const auto in = random_integers<int>(64, -1000, 1000);
  Memory<int> values(in);
  calls().launch("recursive_with_barriers", {1, 1, 1}, {64, 1, 1},
                 Parameters().add(values.address()).add(kTimes));
  ASSERT_EQ(trap_kind(), static_cast<std::uint32_t>(TrapKind::kNone));
  // Each level adds its number of times, which is the same in all threads, and takes it away.
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(values[i], in[(i + kTimes) % 64]) << i;
}

TEST(PtxCalls, FunctionsThatCallEachOtherThroughATable) {
  Memory<int> out(60);
  calls().set_stack_bytes(16384);
  calls().launch("collatz", {1, 1, 1}, {60, 1, 1}, Parameters().add(out.address()));
  ASSERT_EQ(trap_kind(), static_cast<std::uint32_t>(TrapKind::kNone));
  for (int i = 0; i < 60; ++i) {
    int steps = 0;
    for (int n = i + 1; n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ASSERT_EQ(out[static_cast<std::size_t>(i)], steps) << i + 1;
  }
}

TEST(PtxCalls, AFullStackEndsTheLaunch) {
  const auto deep = [](unsigned n) {
    unsigned value = 1;
    for (unsigned i = 1; i <= n; ++i) value = (value * 3) ^ i;
    return value;
  };
  Memory<unsigned> out(1);
  const auto launch = [&](unsigned n, std::uint32_t stack_bytes) {
    calls().set_stack_bytes(stack_bytes);
    calls().launch("depth", {1, 1, 1}, {1, 1, 1}, Parameters().add(out.address()).add(n));
    return trap_kind();
  };
  EXPECT_EQ(launch(20, 4096), static_cast<std::uint32_t>(TrapKind::kNone));
  EXPECT_EQ(out[0], deep(20));
  EXPECT_EQ(launch(10000, 4096), static_cast<std::uint32_t>(TrapKind::kStack));
  EXPECT_EQ(out[0], deep(20)) << "nothing was stored";
  EXPECT_EQ(launch(10000, 1 << 20), static_cast<std::uint32_t>(TrapKind::kNone));
  EXPECT_EQ(out[0], deep(10000));
}

TEST(PtxCalls, AKernelThatCannotBeTranslatedLeavesTheOthersOfItsModule) {
  Memory<int> out(1);
  calls().launch("allowed", {1, 1, 1}, {1, 1, 1}, Parameters().add(out.address()));
  EXPECT_EQ(out[0], 5);
  ASSERT_EQ(calls().translated().refused.size(), 1u);
  const auto& refused = calls().translated().refused[0];
  EXPECT_EQ(refused.name, "refused");
  EXPECT_TRUE(refused.kernel);
  EXPECT_NE(refused.error.text().find("fence.proxy.tensormap"), std::string::npos) << refused.error.text();
}

// `out` is needed behind the second call only, and each call sets it first of all.
constexpr const char* kFibonacci = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.func fibonacci(.param .b64 out, .param .b32 n) {
  .local .align 8 .b32 numbers[2];
  .reg .b64 %out, %first, %second, %at;
  .reg .b32 %n, %m, %a, %b;
  .reg .pred %p;
  .param .b64 place;
  .param .b32 number;
  ld.param.u64 %out, [out];
  ld.param.u32 %n, [n];
  setp.lt.u32 %p, %n, 2;
  @%p bra SMALL;
  mov.u64 %first, numbers;
  add.u64 %second, %first, 4;
  cvta.local.u64 %at, %first;
  sub.u32 %m, %n, 1;
  st.param.b64 [place], %at;
  st.param.b32 [number], %m;
  call fibonacci, (place, number);
  ld.local.u32 %a, [%first];
  cvta.local.u64 %at, %second;
  sub.u32 %m, %n, 2;
  st.param.b64 [place], %at;
  st.param.b32 [number], %m;
  call fibonacci, (place, number);
  ld.local.u32 %b, [%second];
  add.u32 %n, %a, %b;
SMALL:
  st.u32 [%out], %n;
  ret;
}
.visible .entry kernel(.param .u64 values) {
  .reg .b64 %at;
  .reg .b32 %n, %i;
  .param .b64 place;
  .param .b32 number;
  ld.param.u64 %at, [values];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %at, %i, 4, %at;
  ld.global.u32 %n, [%at];
  st.param.b64 [place], %at;
  st.param.b32 [number], %n;
  call fibonacci, (place, number);
  ret;
}
)ptx";

TEST(PtxCalls, WhatIsNeededBehindALaterCallIsSavedByTheFirst) {
  Module module(kFibonacci);
  Memory<int> values(std::vector<int>{10, 1, 2, 7});
  module.launch("kernel", {1, 1, 1}, {4, 1, 1}, Parameters().add(values.address()));
  ASSERT_EQ(module.runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
  EXPECT_EQ(values[0], 55);
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values[2], 1);
  EXPECT_EQ(values[3], 13);
}

}  // namespace
