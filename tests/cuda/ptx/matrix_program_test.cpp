// Products of matrices by wmma (programs/matrix.cu) against products of the host. The elements are small
// integers, so that every sum is exact in every type.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/cuda/ptx/kernels.hpp"

namespace {

using fairgv::ptx_test::compiled;
using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::ptx_test::random_integers;

Module& matrix() {
  static Module module(compiled("matrix_sm_80"));
  return module;
}

// Integers up to 2048 in the two formats of halves.
std::uint16_t as_half(int value) {
  const float absolute = static_cast<float>(value < 0 ? -value : value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &absolute, sizeof bits);
  const std::uint32_t half = value == 0 ? 0 : (((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff));
  return static_cast<std::uint16_t>(half | (value < 0 ? 0x8000U : 0));
}
std::uint16_t as_bfloat(int value) {
  const float real = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &real, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

struct Problem {
  std::string kernel;
  int m, n, k;
  bool row_a, row_b;  // how they lie in memory
  int low, high;      // of the elements
};

// Places the k-th element of a line: a row of A, or a column of B.
template <class Stored, class Sum, class Convert, class ConvertSum>
void expect_product(const Problem& p, Convert convert, ConvertSum convert_sum) {
  const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
  const auto a = random_integers<int>(size(p.m, p.k), p.low, p.high);
  const auto b = random_integers<int>(size(p.k, p.n), p.low, p.high);
  const auto c = random_integers<int>(size(p.m, p.n), -50, 50);
  Memory<Stored> left(a.size()), right(b.size());
  Memory<Sum> start(c.size()), by_row(c.size()), by_column(c.size());
  for (int row = 0; row < p.m; ++row) {
    for (int k = 0; k < p.k; ++k)
      left[static_cast<std::size_t>(p.row_a ? row * p.k + k : k * p.m + row)] =
          convert(a[static_cast<std::size_t>(row * p.k + k)]);
  }
  for (int column = 0; column < p.n; ++column) {
    for (int k = 0; k < p.k; ++k)
      right[static_cast<std::size_t>(p.row_b ? k * p.n + column : column * p.k + k)] =
          convert(b[static_cast<std::size_t>(k * p.n + column)]);
  }
  for (std::size_t i = 0; i < c.size(); ++i) start[i] = convert_sum(c[i]);
  matrix().launch(p.kernel, {1, 1, 1}, {32, 1, 1},
                  Parameters()
                      .add(left.address())
                      .add(right.address())
                      .add(start.address())
                      .add(by_row.address())
                      .add(by_column.address()));
  for (int row = 0; row < p.m; ++row) {
    for (int column = 0; column < p.n; ++column) {
      int sum = c[static_cast<std::size_t>(row * p.n + column)];
      for (int k = 0; k < p.k; ++k)
        sum += a[static_cast<std::size_t>(row * p.k + k)] * b[static_cast<std::size_t>(k * p.n + column)];
      ASSERT_EQ(by_row[static_cast<std::size_t>(row * p.n + column)], convert_sum(sum))
          << p.kernel << ' ' << row << ' ' << column;
      ASSERT_EQ(by_column[static_cast<std::size_t>(column * p.m + row)], convert_sum(2 * sum))
          << p.kernel << ' ' << row << ' ' << column;
    }
  }
}

template <class T>
T plain(int value) {
  return static_cast<T>(value);
}

TEST(PtxMatrix, WmmaOfHalves) {
  for (const Problem& p : {Problem{"half_16_16_16", 16, 16, 16, true, false, -7, 7},
                           Problem{"half_16_16_16_columns", 16, 16, 16, false, true, -7, 7},
                           Problem{"half_32_8_16", 32, 8, 16, true, true, -7, 7}}) {
    expect_product<std::uint16_t, float>(p, as_half, plain<float>);
  }
  expect_product<std::uint16_t, std::uint16_t>({"half_8_32_16", 8, 32, 16, false, false, -7, 7}, as_half,
                                               as_half);
}

TEST(PtxMatrix, WmmaOfOtherFloatingPointTypes) {
  expect_product<std::uint16_t, float>({"bfloat_16_16_16", 16, 16, 16, true, true, -7, 7}, as_bfloat,
                                       plain<float>);
  expect_product<std::uint16_t, float>({"bfloat_8_32_16", 8, 32, 16, true, false, -7, 7}, as_bfloat,
                                       plain<float>);
  expect_product<float, float>({"tf32_16_16_8", 16, 16, 8, true, true, -99, 99}, plain<float>, plain<float>);
  expect_product<double, double>({"double_8_8_4", 8, 8, 4, true, false, -9999, 9999}, plain<double>,
                                 plain<double>);
}

TEST(PtxMatrix, WmmaOfIntegers) {
  expect_product<std::int8_t, int>({"schar_16_16_16", 16, 16, 16, true, false, -128, 127}, plain<std::int8_t>,
                                   plain<int>);
  expect_product<std::int8_t, int>({"schar_32_8_16", 32, 8, 16, false, true, -128, 127}, plain<std::int8_t>,
                                   plain<int>);
  expect_product<std::uint8_t, int>({"uchar_8_32_16", 8, 32, 16, true, true, 0, 255}, plain<std::uint8_t>,
                                    plain<int>);
}

TEST(PtxMatrix, WmmaOfNibblesAndBits) {
  const auto a = random_integers<std::uint32_t>(32, 0, 0xffffffff);
  const auto b = random_integers<std::uint32_t>(32, 0, 0xffffffff);
  const auto c = random_integers<int>(64, -50, 50);
  Memory<std::uint32_t> left(a), right(b);
  Memory<int> start(c), by_row(64), by_column(64);
  const auto launch = [&](const char* kernel, bool both) {
    Parameters parameters;
    parameters.add(left.address()).add(right.address()).add(start.address()).add(by_row.address());
    if (both) parameters.add(by_column.address());
    matrix().launch(kernel, {1, 1, 1}, {32, 1, 1}, parameters);
  };
  const auto nibble = [](std::uint32_t word, unsigned n) {
    const int value = static_cast<int>(word >> (4 * n) & 15);
    return value < 8 ? value : value - 16;
  };
  launch("nibble_8_8_32", true);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      int sum = c[row * 8 + column];
      for (unsigned k = 0; k < 32; ++k)
        sum += nibble(a[row * 4 + k / 8], k % 8) * nibble(b[column * 4 + k / 8], k % 8);
      ASSERT_EQ(by_row[row * 8 + column], sum) << row << ' ' << column;
      ASSERT_EQ(by_column[column * 8 + row], 2 * sum) << row << ' ' << column;
    }
  }
  launch("bit_8_8_128", false);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      int sum = c[row * 8 + column];
      for (std::size_t word = 0; word < 4; ++word)
        sum += __builtin_popcount(a[row * 4 + word] ^ b[column * 4 + word]);
      ASSERT_EQ(by_row[row * 8 + column], sum) << row << ' ' << column;
    }
  }
}

TEST(PtxMatrix, TilesOfSeveralWarpsThroughSharedMemory) {
  constexpr std::size_t kSize = 64;
  const auto a = random_integers<int>(kSize * kSize, -5, 5);
  const auto b = random_integers<int>(kSize * kSize, -5, 5);
  Memory<std::uint16_t> left(kSize * kSize), right(kSize * kSize);
  Memory<float> out(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) left[i] = as_half(a[i]), right[i] = as_half(b[i]);
  matrix().launch(
      "tiled", {2, 4, 1}, {64, 1, 1},
      Parameters().add(left.address()).add(right.address()).add(out.address()).add(static_cast<int>(kSize)));
  for (std::size_t row = 0; row < kSize; ++row) {
    for (std::size_t column = 0; column < kSize; ++column) {
      int sum = 0;
      for (std::size_t k = 0; k < kSize; ++k) sum += a[row * kSize + k] * b[k * kSize + column];
      ASSERT_EQ(out[row * kSize + column], static_cast<float>(sum)) << row << ' ' << column;
    }
  }
}

}  // namespace
