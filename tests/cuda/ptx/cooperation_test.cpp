// Kernels whose threads work together (programs/cooperation.cu), translated, run on the bare OpenCL driver,
// and compared with results from the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "tests/cuda/ptx/kernels.hpp"

namespace {

using fairgv::ptx_test::compiled;
using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::ptx_test::random_integers;
using fairgv::softcuda::TrapKind;

// The module is built once and used by all tests.
Module& cooperation() {
  static Module module(compiled("cooperation_sm_90"));
  return module;
}

TEST(PtxCooperation, WarpScanInABranchThatOtherWarpsDoNotTake) {
  const auto in = random_integers<int>(96, -1000, 1000);
  Memory<int> values(in), out(96);
  cooperation().launch("warp_scan_in_branch", {1, 1, 1}, {96, 1, 1},
                       Parameters().add(values.address()).add(out.address()));
  for (std::size_t i = 0; i < 96; ++i) {
    ASSERT_EQ(out[i], i < 32 ? std::accumulate(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(i) + 1, 0)
                             : -in[i])
        << i;
  }
}

TEST(PtxCooperation, AShuffleFromAThreadThatTakesNoPartAddsNothing) {
  Memory<int> sum(1);
  for (const unsigned threads : {32U, 8U, 5U}) {
    for (const unsigned few : {8U, 5U, 1U}) {
      const int lanes = static_cast<int>(std::min(few, threads));
      cooperation().launch("partial_sum", {1, 1, 1}, {threads, 1, 1},
                           Parameters().add(sum.address()).add(few));
      EXPECT_EQ(sum[0], lanes * (lanes + 1) / 2) << few << " of " << threads;
    }
  }
}

TEST(PtxCooperation, VotesAndMatchesAmongDivergedThreads) {
  const auto in = random_integers<int>(64, -20, 120);
  Memory<int> values(in);
  Memory<unsigned> out(64);
  cooperation().launch("votes", {1, 1, 1}, {64, 1, 1}, Parameters().add(values.address()).add(out.address()));
  for (std::size_t warp = 0; warp < 64; warp += 32) {
    unsigned positive = 0, odd = 0;
    bool five = false, small = true, same = true;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const int x = in[warp + lane];
      positive |= static_cast<unsigned>(x > 0) << lane;
      odd += x & 1 ? 1 : 0;
      five = five || x == 5;
      small = small && x < 100;
      same = same && x / 1000 == in[warp] / 1000;
    }
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const int x = in[warp + lane];
      unsigned r = positive ^ (five ? 0x10000u : 0) ^ (small ? 0x20000u : 0);
      if (x & 1) r += odd * 1000;
      unsigned equal = 0;
      for (std::size_t other = 0; other < 32; ++other)
        equal |= static_cast<unsigned>(in[warp + other] % 3 == x % 3) << other;
      r += equal * 3;
      r += same ? 0xffffffffu + 1 : 0;
      ASSERT_EQ(out[warp + lane], r) << warp + lane;
    }
  }
}

TEST(PtxCooperation, BarriersThatCount) {
  const auto in = random_integers<int>(100, -20, 120);
  Memory<int> values(in), out(300);
  cooperation().launch("block_votes", {1, 1, 1}, {100, 1, 1},
                       Parameters().add(values.address()).add(out.address()));
  const auto count = std::count_if(in.begin(), in.end(), [](int x) { return x > 10; });
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(out[3 * i], count);
    ASSERT_NE(out[3 * i + 1], 0);
    ASSERT_EQ(out[3 * i + 2], 0);
  }
}

TEST(PtxCooperation, NamedBarriersOfPartsOfABlock) {
  const auto in = random_integers<int>(128, -1000, 1000);
  Memory<int> values(in), out(128);
  cooperation().launch("named_barriers", {1, 1, 1}, {128, 1, 1},
                       Parameters().add(values.address()).add(out.address()));
  for (std::size_t i = 0; i < 128; ++i) {
    const std::size_t half = i / 64;
    ASSERT_EQ(out[i], in[half * 64 + 63 - i % 64] + static_cast<int>(half * 2)) << i;
  }
}

TEST(PtxCooperation, WarpOperationsInCalledFunctions) {
  const auto in = random_integers<int>(64, -1000, 1000);
  Memory<int> values(in), out(64);
  cooperation().launch("warp_function", {1, 1, 1}, {64, 1, 1},
                       Parameters().add(values.address()).add(out.address()).add(2));
  for (std::size_t i = 0; i < 64; ++i) {
    const auto first = in.begin() + (i < 32 ? 0 : 32);
    const int sum = std::accumulate(first, first + 32, 0);
    // local[(n + 3) & 3] is 3 x, local[n & 3] is 0 x.
    ASSERT_EQ(out[i], i < 32 ? sum : sum + 3 * sum) << i;
  }
}

TEST(PtxCooperation, AWarpThatIsNotFull) {
  Memory<int> out(64, -1);
  cooperation().launch("partial_warp", {1, 1, 1}, {64, 1, 1}, Parameters().add(out.address()).add(42));
  for (int i = 0; i < 64; ++i) {
    const int lanes = i < 32 ? 32 : 10;
    const int expected = i < 42 ? (i + 1) + ((i ^ 1) + 1) + lanes * 1000 : -1;
    ASSERT_EQ(out[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST(PtxCooperation, PrintedLinesArriveWithTheirArguments) {
  cooperation().launch("printing", {1, 1, 1}, {2, 1, 1}, Parameters().add(5));
  EXPECT_EQ(cooperation().printed(),
            "thread 5 of 2: zero 2.500000 42949672960!\nthread 6 of 2: one 2.500000 42949672960!\n");
}

TEST(PtxCooperation, AFailedAssertionSaysWhereAndWho) {
  cooperation().launch("asserting", {1, 1, 1}, {8, 1, 1}, Parameters().add(8));
  EXPECT_EQ(cooperation().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
  cooperation().launch("asserting", {3, 1, 1}, {8, 1, 1}, Parameters().add(7));
  const auto& runtime = cooperation().runtime();
  ASSERT_EQ(runtime.trap_kind, static_cast<std::uint32_t>(TrapKind::kAssert));
  EXPECT_EQ(runtime.trap_thread[0], 7u);
  EXPECT_GT(runtime.trap_line, 0u);
  EXPECT_STREQ(reinterpret_cast<const char*>(runtime.trap_message), "static_cast<int>(threadIdx.x) < x");
  EXPECT_NE(std::strstr(reinterpret_cast<const char*>(runtime.trap_file), "cooperation.cu"), nullptr);
}

TEST(PtxCooperation, ADeadlockEndsWithATrap) {
  Memory<int> out(1);
  cooperation().launch("deadlock", {1, 1, 1}, {64, 1, 1}, Parameters().add(out.address()));
  EXPECT_EQ(cooperation().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kDeadlock));
}

TEST(PtxCooperation, AtomicsOfEveryKind) {
  constexpr int kThreads = 256;
  Memory<int> ints(std::vector<int>{0, 0, 0, -1, 0, 1000, 0, 0, 0, 0});
  Memory<unsigned long long> longs(2);
  Memory<float> floats(1);
  Memory<double> doubles(1);
  cooperation().launch(
      "atomics", {4, 1, 1}, {64, 1, 1},
      Parameters().add(ints.address()).add(longs.address()).add(floats.address()).add(doubles.address()));
  int changed = 0;
  for (int i = 0; i < kThreads; ++i) changed ^= i;
  const int expected[] = {1 - kThreads, kThreads - 1,  -1, 0,           changed, 1000 - 3 * kThreads,
                          42,           kThreads % 10, 0,  2 * kThreads};
  for (std::size_t i = 0; i < 10; ++i) {
    if (i == 8) continue;
    EXPECT_EQ(ints[i], expected[i]) << i;
  }
  // 0, 9, 8, ... 1, 0, 9: after 256 steps of a cycle of ten.
  EXPECT_EQ(ints[8], (10 - kThreads % 10) % 10);
  EXPECT_EQ(longs[0], static_cast<unsigned long long>(kThreads) << 33);
  EXPECT_EQ(longs[1], static_cast<unsigned long long>(kThreads - 1) << 40);
  EXPECT_EQ(floats[0], kThreads * 0.25f);
  EXPECT_EQ(doubles[0], kThreads * 0.5);
}

}  // namespace
