// Whole kernels as nvcc compiles them (programs/basics.cu), translated, run on the bare OpenCL driver, and
// compared with results from the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/cuda/ptx/kernels.hpp"

namespace {

using fairgv::ptx_test::compiled;
using fairgv::ptx_test::generator;
using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::ptx_test::random_integers;
using fairgv::ptx_test::random_reals;

// The module is built once and used by all tests.
Module& basics() {
  static Module module(compiled("basics_sm_75"));
  return module;
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
    // Arguments are rounded as the kernel's are: near 1 a logarithm magnifies the rounding.
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

}  // namespace
