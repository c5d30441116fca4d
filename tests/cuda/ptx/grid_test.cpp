// Barriers of the whole grid, and mbarrier objects (programs/grid.cu).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

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

}  // namespace
