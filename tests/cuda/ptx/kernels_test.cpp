// Whole kernels as nvcc compiles them (programs/*.cu), translated, run on the bare OpenCL driver, and
// compared with what the host computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "tests/cuda/ptx/device.hpp"
#include "tests/harness/seed.hpp"

namespace {

using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::softcuda::TrapKind;

std::string compiled(const std::string& program) {
  std::ifstream file(std::string(FAIRGV_PTX_PROGRAMS) + "/" + program + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A module is built once and used by all tests of its program.
Module& basics() {
  static Module module(compiled("basics_sm_75"));
  return module;
}
Module& cooperation() {
  static Module module(compiled("cooperation_sm_90"));
  return module;
}

std::mt19937_64& generator() {
  static std::mt19937_64 instance(fairgv::harness::printed_seed());
  return instance;
}

template <class T>
std::vector<T> random_integers(std::size_t count, long long low, long long high) {
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(
        low + static_cast<long long>(generator()() % static_cast<unsigned long long>(high - low + 1)));
  return values;
}

template <class T>
std::vector<T> random_reals(std::size_t count, double low, double high) {
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(std::uniform_real_distribution<double>(low, high)(generator()));
  return values;
}

TEST(PtxKernels, Saxpy) {
  constexpr int kCount = 1000;
  const auto x = random_reals<float>(kCount, -9, 9);
  const auto y = random_reals<float>(kCount, -9, 9);
  Memory<float> in(x), out(y);
  basics().launch("saxpy", {8, 1, 1}, {128, 1, 1},
                  Parameters().add(kCount).add(2.5f).add(in.address()).add(out.address()));
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(out[i], std::fma(2.5f, x[i], y[i])) << i;
  EXPECT_FALSE(basics().info("saxpy").stepped);
}

TEST(PtxKernels, MatrixProductWithTilesInSharedMemory) {
  constexpr int kSize = 48;
  const auto a = random_reals<float>(kSize * kSize, -1, 1);
  const auto b = random_reals<float>(kSize * kSize, -1, 1);
  Memory<float> left(a), right(b), out(kSize * kSize);
  basics().launch("matmul", {3, 3, 1}, {16, 16, 1},
                  Parameters().add(left.address()).add(right.address()).add(out.address()).add(kSize));
  for (std::size_t row = 0; row < kSize; ++row) {
    for (std::size_t column = 0; column < kSize; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < kSize; ++k) sum = std::fma(a[row * kSize + k], b[k * kSize + column], sum);
      ASSERT_EQ(out[row * kSize + column], sum) << row << ' ' << column;
    }
  }
  EXPECT_FALSE(basics().info("matmul").stepped) << "its barriers are reached by all";
}

TEST(PtxKernels, ReductionWithShufflesInABranch) {
  const auto in = random_integers<int>(5000, -1000, 1000);
  Memory<int> values(in), out(1);
  basics().launch("reduce", {4, 1, 1}, {256, 1, 1},
                  Parameters().add(values.address()).add(out.address()).add(5000));
  EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), 0));
}

TEST(PtxKernels, ScanInDynamicSharedMemory) {
  const auto in = random_integers<int>(256, -1000, 1000);
  Memory<int> values(in), out(256);
  basics().launch("scan", {2, 1, 1}, {128, 1, 1}, Parameters().add(values.address()).add(out.address()),
                  128 * sizeof(int));
  for (std::size_t i = 0; i < 256; ++i) {
    const auto first = in.begin() + (i < 128 ? 0 : 128);
    ASSERT_EQ(out[i], std::accumulate(first, in.begin() + static_cast<std::ptrdiff_t>(i) + 1, 0)) << i;
  }
}

TEST(PtxKernels, TransposeThroughATile) {
  constexpr int kWidth = 70, kHeight = 45;
  const auto in = random_reals<float>(kWidth * kHeight, -1, 1);
  Memory<float> values(in), out(kWidth * kHeight);
  basics().launch("transpose", {3, 2, 1}, {32, 8, 1},
                  Parameters().add(values.address()).add(out.address()).add(kWidth).add(kHeight));
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) ASSERT_EQ(out[x * kHeight + y], in[y * kWidth + x]);
  }
}

TEST(PtxKernels, HistogramWithAtomicsInSharedAndGlobalMemory) {
  const auto in = random_integers<unsigned char>(4000, 0, 255);
  Memory<unsigned char> values(in);
  Memory<unsigned> bins(256);
  basics().launch("histogram", {3, 1, 1}, {64, 1, 1},
                  Parameters().add(values.address()).add(bins.address()).add(4000));
  for (std::size_t bin = 0; bin < 256; ++bin) {
    ASSERT_EQ(bins[bin], std::count(in.begin(), in.end(), static_cast<unsigned char>(bin)));
  }
}

TEST(PtxKernels, ThreadsMayLeaveBeforeABarrier) {
  const auto in = random_integers<int>(64, -1000, 1000);
  Memory<int> values(in), out(64, -7);
  basics().launch("early_exit", {1, 1, 1}, {64, 1, 1},
                  Parameters().add(values.address()).add(out.address()).add(40));
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], i < 40 ? in[39 - i] : -7) << i;
}

TEST(PtxKernels, TheLastBlockAddsUpWhatAllBlocksLeft) {
  const auto in = random_integers<int>(640, -1000, 1000);
  Memory<int> values(in), partial(10), out(1);
  basics().launch("last_block", {10, 1, 1}, {64, 1, 1},
                  Parameters().add(values.address()).add(partial.address()).add(out.address()));
  EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), 0));
}

int collatz(int x) {
  int steps = 0;
  for (; x != 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  return steps;
}

int dispatched(int r) {
  const auto u = static_cast<unsigned>(r);
  switch (r & 15) {
    case 0:
      return collatz(r + 1);
    case 1:
      return r * 7;
    case 2:
      return r ^ 0x55;
    case 3:
      return std::popcount(u);
    case 4:
      return std::countl_zero(u);
    case 5:
      return r / 3;
    case 6:
      return r % 10;
    case 7:
      return -r;
    case 8:
      return collatz(r);
    case 9:
      return r << 3;
    case 10:
      return r >> 2;
    default:
      return r + 1000;
  }
}

TEST(PtxKernels, SwitchesAndCalledFunctions) {
  const auto in = random_integers<int>(128, 1, 100000);
  Memory<int> values(in), out(128);
  basics().launch("dispatch", {2, 1, 1}, {64, 1, 1}, Parameters().add(values.address()).add(out.address()));
  for (std::size_t i = 0; i < 128; ++i) ASSERT_EQ(out[i], dispatched(in[i])) << in[i];
}

struct Point {
  double x;
  char tag;
  float weight[3];
};

TEST(PtxKernels, StructsByValueToKernelsAndFunctions) {
  Memory<Point> out(32);
  basics().launch("structs", {1, 1, 1}, {32, 1, 1},
                  Parameters().add(Point{1.25, 0, {1, 2, 3}}).add(out.address()));
  for (std::size_t i = 0; i < 32; ++i) {
    float weight[3] = {1, 2, 3};
    weight[i % 3] *= 2;
    ASSERT_EQ(out[i].x, 1.25 + static_cast<double>(i) * 0.5);
    ASSERT_EQ(out[i].tag, static_cast<char>(i));
    ASSERT_EQ(std::memcmp(out[i].weight, weight, sizeof weight), 0);
  }
}

TEST(PtxKernels, VariablesOfTheModuleWithTheirInitialValuesAndAddresses) {
  Memory<int> out(8);
  basics().launch("variables", {1, 1, 1}, {8, 1, 1}, Parameters().add(out.address()));
  const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
  const float weights[2][3] = {{1.5f, 2.5f}, {3.5f}};
  for (std::size_t i = 0; i < 8; ++i) {
    const int name = i % 2 == 0 ? 's' : 'e';
    const int number = i % 2 == 0 ? 7 : 11;
    ASSERT_EQ(out[i], table[i] + table[2 + i % 4] * 10 + static_cast<int>(weights[i / 4][i % 3] * 2) * 100 +
                          name * 1000 + number * 1000000)
        << i;
  }
}

// Units in the last place of the expected value.
template <class T>
double units(T expected, T seen) {
  if (expected == seen) return 0;
  const T spacing = std::fabs(std::nextafter(expected, std::numeric_limits<T>::infinity()) - expected);
  return std::fabs(static_cast<double>(expected - seen) / static_cast<double>(spacing));
}

TEST(PtxKernels, DoublePrecisionFunctionsAreWithinTheErrorsThatCudaStates) {
  const auto in = random_reals<double>(256, -300, 300);
  Memory<double> values(in), out(256 * 5);
  basics().launch("doubles", {2, 1, 1}, {128, 1, 1},
                  Parameters().add(values.address()).add(out.address()).add(256));
  for (std::size_t i = 0; i < 256; ++i) {
    const double x = in[i], a = std::fabs(x);
    const double expected[] = {std::sqrt(a), std::exp(-a), std::sin(x), std::log(a + 1), std::pow(a, 0.3)};
    for (std::size_t k = 0; k < 5; ++k)
      ASSERT_LE(units(expected[k], out[5 * i + k]), 2.0) << "function " << k << " of " << x;
  }
}

TEST(PtxKernels, SinglePrecisionFunctionsAreWithinTheErrorsThatCudaStates) {
  const auto in = random_reals<float>(256, -50, 50);
  Memory<float> values(in), out(256 * 6);
  basics().launch("floats", {2, 1, 1}, {128, 1, 1},
                  Parameters().add(values.address()).add(out.address()).add(256));
  for (std::size_t i = 0; i < 256; ++i) {
    const double x = in[i], a = std::fabs(x);
    // Arguments are rounded as the kernel's are: near 1 a logarithm makes much of that.
    const double expected[] = {std::exp(x), std::sin(static_cast<double>(in[i] * 1000)),
                               std::log(static_cast<double>(std::fabs(in[i]) + 0.25f)),
                               std::pow(a, static_cast<double>(1.7f))};
    for (std::size_t k = 0; k < 4; ++k)
      ASSERT_LE(units(static_cast<float>(expected[k]), out[6 * i + k]), 4.0)
          << "function " << k << " of " << x;
    ASSERT_EQ(out[6 * i + 4], std::fmod(in[i], 0.7f)) << x;
    ASSERT_NEAR(out[6 * i + 5], 1 / std::sqrt(a + 1) + std::floor(x) + std::erf(x), 1e-5) << x;
  }
}

TEST(PtxKernels, HalvesThatAreExactComeOutExact) {
  // 0.5, 1, 1.5 ... as bits of a half: x = k / 2 gives 2x + 0.5 = k + 0.5.
  const auto half_bits = [](double value) {
    const int exponent = std::ilogb(value);
    return static_cast<std::uint16_t>((exponent + 15) << 10 |
                                      (static_cast<int>(std::ldexp(value, 10 - exponent)) & 0x3ff));
  };
  Memory<std::uint16_t> in(64), out(64);
  for (std::size_t i = 0; i < 64; ++i) in[i] = half_bits(static_cast<double>(i + 1) / 2);
  basics().launch("halves", {1, 1, 1}, {64, 1, 1}, Parameters().add(in.address()).add(out.address()).add(64));
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], half_bits(static_cast<double>(i + 1) + 0.5)) << i;
}

TEST(PtxKernels, ArraysInLocalMemory) {
  const auto in = random_integers<int>(16, 0, 1000);
  Memory<int> values(in), out(64);
  basics().launch("local_array", {1, 1, 1}, {64, 1, 1},
                  Parameters().add(values.address()).add(out.address()));
  for (unsigned thread = 0; thread < 64; ++thread) {
    unsigned array[16], sum = 0;
    for (unsigned i = 0; i < 16; ++i) array[i] = i * 5;
    for (unsigned i = 0; i < 16; ++i) array[(i * 7 + static_cast<unsigned>(in[i])) & 15] = i + thread;
    for (unsigned i = 0; i < 16; ++i) sum = sum * 3 + array[in[i] & 15];
    ASSERT_EQ(static_cast<unsigned>(out[thread]), sum) << thread;
  }
}

TEST(PtxKernels, TheCycleCounterAdvances) {
  Memory<int> work(1);
  Memory<std::uint64_t> whole(2);
  Memory<unsigned> half(2);
  basics().launch("ticks", {1, 1, 1}, {1, 1, 1},
                  Parameters().add(work.address()).add(whole.address()).add(half.address()));
  EXPECT_EQ(work[0], 1000);
  EXPECT_GT(whole[1], whole[0]);
  EXPECT_LT(half[0] - static_cast<unsigned>(whole[0]), whole[1] - whole[0])
      << "read after, of the same counter";
  EXPECT_LT(half[0] - static_cast<unsigned>(whole[0]), half[1] - static_cast<unsigned>(whole[0]));
}

TEST(PtxKernels, TheSameProgramCompiledForANewerArchitectureGivesTheSame) {
  Module newer(compiled("basics_sm_90"));
  EXPECT_EQ(newer.translated().architecture, 90U);
  EXPECT_EQ(basics().translated().architecture, 75U);
  EXPECT_EQ(newer.translated().kernels.size(), basics().translated().kernels.size());
  const auto in = random_integers<int>(128, 1, 100000);
  Memory<int> values(in), out(128), sum(1);
  newer.launch("dispatch", {2, 1, 1}, {64, 1, 1}, Parameters().add(values.address()).add(out.address()));
  for (std::size_t i = 0; i < 128; ++i) ASSERT_EQ(out[i], dispatched(in[i])) << in[i];
  newer.launch("reduce", {1, 1, 1}, {128, 1, 1},
               Parameters().add(values.address()).add(sum.address()).add(128));
  EXPECT_EQ(sum[0], std::accumulate(in.begin(), in.end(), 0));
}

// ---- threads that work together

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
