// Barriers of the whole grid, and mbarrier objects (programs/grid.cu).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/cuda/ptx/kernels.hpp"

namespace {

using fairgv::ptx_test::compiled;
using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::ptx_test::random_integers;
using fairgv::softcuda::TrapKind;

Module& grid() {
  static Module module(compiled("grid_sm_80"));
  return module;
}

TEST(PtxGrid, BlocksWaitForEachOther) {
  ASSERT_TRUE(grid().info("rotate_blocks").cooperates);
  EXPECT_FALSE(grid().info("hand_over").cooperates);
  constexpr int kRounds = 5;
  for (const std::size_t blocks : {std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
    const auto in = random_integers<int>(blocks * 64, 0, 1000);
    Memory<int> values(in), spare(in.size());
    grid().launch("rotate_blocks", {blocks, 1, 1}, {64, 1, 1},
                  Parameters().add(values.address()).add(spare.address()).add(kRounds));
    ASSERT_EQ(grid().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(values[i], in[(i + kRounds * 64) % in.size()] + kRounds) << blocks << ' ' << i;
  }
}

TEST(PtxGrid, ATrapEndsTheBlocksThatWait) {
  grid().launch("fail_in_block", {6, 1, 1}, {32, 1, 1}, Parameters().add(4));
  EXPECT_EQ(grid().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kTrap));
  EXPECT_EQ(grid().runtime().trap_block[0], 4u);
  EXPECT_EQ(grid().runtime().trap_thread[0], 3u);
}

TEST(PtxGrid, BarrierObjectsHandValuesOver) {
  constexpr std::size_t kRounds = 7;
  const auto in = random_integers<int>(kRounds * 32, -1000, 1000);
  Memory<int> values(in), out(in.size());
  grid().launch("hand_over", {1, 1, 1}, {64, 1, 1},
                Parameters().add(values.address()).add(out.address()).add(static_cast<int>(kRounds)));
  ASSERT_EQ(grid().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i / 32 * 32 + 31 - i % 32]) << i;
}

// As compilers call the groups that do not put them in place (Numba).
constexpr std::string_view kLibraryCalls = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle (.param .b32 a);
.extern .func (.param .b32 r) cudaCGSynchronize (.param .b64 a, .param .b32 b);
.extern .func (.param .b32 r) cudaCGGetSize (.param .b64 a, .param .b64 b, .param .b64 c);
.extern .func (.param .b32 r) cudaCGGetRank (.param .b64 a, .param .b64 b, .param .b64 c);

// The value that the block before has written is there after a round, `rounds` times. out: the thread's rank, the size, the error.
.visible .entry pass_on(.param .u64 values, .param .u64 out, .param .u32 rounds) {
  .reg .b64 %handle, %values, %out, %mine, %theirs, %place, %local;
  .reg .b32 %n, %m, %i, %v, %e, %blocks;
  .reg .pred %p;
  .local .align 4 .b32 numbers[4];
  .param .b32 scope;
  .param .b64 h;
  .param .b32 flags;
  .param .b32 error;
  .param .b64 first;
  .param .b64 second;
  st.param.b32 [scope], 1;
  call (h), cudaCGGetIntrinsicHandle, (scope);
  ld.param.b64 %handle, [h];
  mov.u64 %local, numbers;
  cvta.local.u64 %local, %local;
  st.param.b64 [first], %local;
  add.u64 %local, %local, 4;
  st.param.b64 [second], %local;
  call (error), cudaCGGetRank, (first, second, h);
  ld.local.u32 %n, [numbers];
  ld.param.u64 %out, [out];
  mad.wide.u32 %place, %n, 12, %out;
  st.global.u32 [%place], %n;
  call (error), cudaCGGetSize, (first, second, h);
  ld.local.u32 %v, [numbers];
  ld.local.u32 %m, [numbers+4];
  mul.lo.u32 %v, %v, %m;
  st.global.u32 [%place+4], %v;
  ld.param.u64 %values, [values];
  mov.u32 %m, %ntid.x;
  mov.u32 %i, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mad.wide.u32 %mine, %n, 4, %values;
  add.u32 %v, %i, 1;
  rem.u32 %v, %v, %blocks;
  mov.u32 %i, %tid.x;
  mad.lo.u32 %v, %v, %m, %i;
  mad.wide.u32 %theirs, %v, 4, %values;
  ld.param.u32 %i, [rounds];
  st.param.b32 [flags], 0;
ROUND:
  ld.volatile.global.u32 %v, [%theirs];
  call (error), cudaCGSynchronize, (h, flags);
  add.u32 %v, %v, 1;
  st.volatile.global.u32 [%mine], %v;
  call (error), cudaCGSynchronize, (h, flags);
  sub.u32 %i, %i, 1;
  setp.ne.u32 %p, %i, 0;
  @%p bra ROUND;
  ld.param.b32 %e, [error];
  st.global.u32 [%place+8], %e;
  ret;
}
)ptx";

TEST(PtxGrid, TheDeviceRuntimesFunctionsAreTheDevicesOwn) {
  Module module(kLibraryCalls);
  ASSERT_TRUE(module.info("pass_on").cooperates);
  constexpr std::size_t kThreads = 32, kBlocks = 5, kRounds = 7, kAll = kThreads * kBlocks;
  const auto in = random_integers<unsigned>(kAll, 0, 1000);
  Memory<unsigned> values(in), out(3 * kAll);
  module.launch("pass_on", {kBlocks, 1, 1}, {kThreads, 1, 1},
                Parameters().add(values.address()).add(out.address()).add(unsigned{kRounds}));
  ASSERT_EQ(module.runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
  for (std::size_t i = 0; i < kAll; ++i) {
    ASSERT_EQ(values[i], in[(i + kRounds * kThreads) % kAll] + kRounds) << i;
    ASSERT_EQ(out[3 * i], i);
    ASSERT_EQ(out[3 * i + 1], kAll) << i;
    ASSERT_EQ(out[3 * i + 2], 0u) << i;
  }
}

}  // namespace
