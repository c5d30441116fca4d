// Half precision (PTX ISA, "Half Precision Floating-Point Instructions") against a reference that knows every
// value of the format and picks the nearest.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/cuda/ptx/sweep.hpp"
#include "tests/harness/seed.hpp"

namespace {

using fairgv::ptx_test::Compare;
using fairgv::ptx_test::double_inputs;
using fairgv::ptx_test::expect_forms;
using fairgv::ptx_test::float_inputs;
using fairgv::ptx_test::Form;
using fairgv::ptx_test::half_inputs;
using fairgv::ptx_test::Inputs;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
// Holds a product of two halves plus a third exactly.
__extension__ typedef __float128 Exact;

// A 16-bit format by its number of fraction bits: all finite values of one sign, in order of their bits.
class Format {
 public:
  explicit Format(int fraction_bits)
      : fraction_bits_(fraction_bits),
        infinity_(static_cast<u16>(0x7fff >> fraction_bits_ << fraction_bits_)) {
    const int bias = (1 << (14 - fraction_bits_)) - 1;
    for (int bits = 0; bits < infinity_; ++bits) {
      const int exponent = bits >> fraction_bits_;
      const int fraction = bits & ((1 << fraction_bits_) - 1);
      values_.push_back(exponent == 0
                            ? std::ldexp(fraction, 1 - bias - fraction_bits_)
                            : std::ldexp(fraction + (1 << fraction_bits_), exponent - bias - fraction_bits_));
    }
  }

  double value(u64 bits) const {
    const u64 magnitude = bits & 0x7fff;
    double result = magnitude < infinity_ ? values_[magnitude] : magnitude == infinity_ ? INFINITY : NAN;
    return bits & 0x8000 ? -result : result;
  }

  // mode: 0 nearest even, 1 toward zero, 2 down, 3 up.
  u64 round(Exact x, int mode, bool negative_zero = false) const {
    if (x != x) return 0x7fff;
    const bool negative = x < 0 || (x == 0 && negative_zero);
    const Exact magnitude = negative ? -x : x;
    const u64 sign = negative ? 0x8000 : 0;
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude,
                                        [](Exact a, double b) { return a < static_cast<Exact>(b); });
    const auto low = static_cast<u64>(above - values_.begin()) - 1;
    if (magnitude == static_cast<Exact>(values_[low])) return sign | low;
    const bool away = (mode == 2 && negative) || (mode == 3 && !negative);
    // The value after the largest is one step away, too: infinity begins at half of that step.
    const Exact step = low + 1 < values_.size()
                           ? static_cast<Exact>(values_[low + 1]) - static_cast<Exact>(values_[low])
                           : static_cast<Exact>(values_[low]) - static_cast<Exact>(values_[low - 1]);
    if (magnitude > 4 * static_cast<Exact>(values_.back()) && magnitude + 1 == magnitude &&
        std::isinf(static_cast<double>(magnitude)) &&
        magnitude > static_cast<Exact>(std::numeric_limits<double>::max())) {
      return sign | infinity_;  // an infinity itself
    }
    if (mode != 0) return sign | (low + (away ? 1 : 0));
    const Exact rest = magnitude - static_cast<Exact>(values_[low]);
    const bool up = rest > step / 2 || (rest == step / 2 && (low & 1) != 0);
    return sign | (low + (up ? 1 : 0));
  }

 private:
  int fraction_bits_;
  u16 infinity_;
  std::vector<double> values_;
};

const Format& half() {
  static const Format format(10);
  return format;
}
const Format& brain() {
  static const Format format(7);
  return format;
}

// The sign of a sum that is zero: negative only when both operands are negative.
bool negative_sum(double a, double b) {
  return std::signbit(a) && std::signbit(b);
}

/// The sum rounded to odd: rounding it again, to fewer bits, gives the same as rounding once.
Exact odd_sum(Exact x, Exact y) {
  const Exact sum = x + y;
  const Exact most = sum - x;
  const Exact error = (x - (sum - most)) + (y - most);
  auto bits = std::bit_cast<std::array<u64, 2>>(sum);  // the lower half of the mantissa first
  if (error == 0 || bits[0] % 2 != 0) return sum;
  // The neighbour on the side of the error is odd. To grow, an even number needs only its lowest bit; to
  // shrink, the lower half may borrow.
  const bool grows = (error > 0) == (sum > 0);
  if (!grows && bits[0] == 0) --bits[1];
  bits[0] += grows ? 1 : ~u64{0};
  return std::bit_cast<Exact>(bits);
}

u64 fused(const Format& f, u64 a, u64 b, u64 c) {
  const double x = f.value(a), y = f.value(b), z = f.value(c);
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
    return f.round(static_cast<Exact>(std::fma(x, y, z)), 0);
  return f.round(odd_sum(static_cast<Exact>(x) * static_cast<Exact>(y), static_cast<Exact>(z)), 0,
                 negative_sum(x * y, z));
}

u64 combined(const Format& f, char op, u64 a, u64 b) {
  const double x = f.value(a), y = f.value(b);
  const double z = op == '+' ? x + y : op == '-' ? x - y : x * y;
  return f.round(static_cast<Exact>(z), 0, std::signbit(z));
}

void add_arithmetic(std::vector<Form>& forms, const Format& f, const std::string& type, Compare compare) {
  for (const auto& [name, op] : {std::pair{"add", '+'}, std::pair{"sub", '-'}, std::pair{"mul", '*'}}) {
    const char o = op;
    forms.push_back({std::string(name) + "." + type + " %d16, %a16, %b16;", 16,
                     [&f, o](const Inputs& in) { return combined(f, o, in.a & 0xffff, in.b & 0xffff); },
                     compare});
  }
  forms.push_back({"fma.rn." + type + " %d16, %a16, %b16, %c16;", 16,
                   [&f](const Inputs& in) { return fused(f, in.a & 0xffff, in.b & 0xffff, in.c & 0xffff); },
                   compare});
  forms.push_back({"neg." + type + " %d16, %a16;", 16,
                   [](const Inputs& in) { return (in.a ^ 0x8000) & 0xffff; }, compare});
  forms.push_back(
      {"abs." + type + " %d16, %a16;", 16, [](const Inputs& in) { return in.a & 0x7fff; }, compare});
  const auto minimum = [&f](u64 a, u64 b) -> u64 {
    const double x = f.value(a), y = f.value(b);
    if (std::isnan(x)) return b;
    if (std::isnan(y)) return a;
    return x < y || (x == y && std::signbit(x)) ? a : b;
  };
  forms.push_back({"min." + type + " %d16, %a16, %b16;", 16,
                   [=](const Inputs& in) { return minimum(in.a & 0xffff, in.b & 0xffff); }, compare});
  forms.push_back(
      {"max." + type + " %d16, %a16, %b16;", 16,
       [=](const Inputs& in) { return minimum((in.a & 0xffff) ^ 0x8000, (in.b & 0xffff) ^ 0x8000) ^ 0x8000; },
       compare});
  forms.push_back({"setp.lt." + type + " %dp, %a16, %b16;", 1,
                   [&f](const Inputs& in) { return u64{f.value(in.a & 0xffff) < f.value(in.b & 0xffff)}; }});
  forms.push_back({"cvt.f32." + type + " %d32, %a16;", 32,
                   [&f](const Inputs& in) -> u64 {
                     return std::bit_cast<u32>(static_cast<float>(f.value(in.a & 0xffff)));
                   },
                   Compare::kFloat32});
}

TEST(PtxSweep, HalfPrecisionArithmeticRoundsOnce) {
  std::vector<Form> forms;
  add_arithmetic(forms, half(), "f16", Compare::kFloat16);
  add_arithmetic(forms, brain(), "bf16", Compare::kBfloat16);
  for (const auto& [name, op] : {std::pair{"add", '+'}, std::pair{"sub", '-'}, std::pair{"mul", '*'}}) {
    const char o = op;
    forms.push_back({std::string(name) + ".f16x2 %d32, %a32, %b32;", 32,
                     [o](const Inputs& in) {
                       return combined(half(), o, in.a & 0xffff, in.b & 0xffff) |
                              combined(half(), o, in.a >> 16 & 0xffff, in.b >> 16 & 0xffff) << 16;
                     },
                     Compare::kFloat16x2});
  }
  forms.push_back({"fma.rn.f16x2 %d32, %a32, %b32, %c32;", 32,
                   [](const Inputs& in) {
                     return fused(half(), in.a & 0xffff, in.b & 0xffff, in.c & 0xffff) |
                            fused(half(), in.a >> 16 & 0xffff, in.b >> 16 & 0xffff, in.c >> 16 & 0xffff)
                                << 16;
                   },
                   Compare::kFloat16x2});
  forms.push_back(
      {"setp.ge.f16x2 %p0|%p1, %a32, %b32;\nselp.b32 %d32, 2, 0, %p0;\nselp.b32 %x0, 1, 0, %p1;\nor.b32 "
       "%d32, %d32, %x0;",
       32, [](const Inputs& in) -> u64 {
         return (half().value(in.a & 0xffff) >= half().value(in.b & 0xffff) ? 2u : 0u) |
                (half().value(in.a >> 16 & 0xffff) >= half().value(in.b >> 16 & 0xffff) ? 1u : 0u);
       }});
  forms.push_back({"cvt.rzi.s32.f16 %d32, %a16;", 32, [](const Inputs& in) -> u64 {
                     const double x = half().value(in.a & 0xffff);
                     if (std::isnan(x)) return 0;
                     return static_cast<u32>(
                         static_cast<std::int32_t>(std::clamp(std::trunc(x), -2147483648.0, 2147483647.0)));
                   }});
  expect_forms("half", forms, half_inputs(fairgv::harness::printed_seed()));
}

TEST(PtxSweep, SinglesAndDoublesConvertToHalvesInEveryRounding) {
  std::vector<Form> forms;
  const auto value = [](const Inputs& in) { return std::bit_cast<float>(static_cast<u32>(in.a)); };
  int mode = 0;
  for (const char* name : {"rn", "rz", "rm", "rp"}) {
    const int m = mode++;
    forms.push_back({std::string("cvt.") + name + ".f16.f32 %d16, %a32;", 16,
                     [=](const Inputs& in) { return half().round(value(in), m, std::signbit(value(in))); },
                     Compare::kFloat16});
    if (m < 2) {
      forms.push_back({std::string("cvt.") + name + ".bf16.f32 %d16, %a32;", 16,
                       [=](const Inputs& in) { return brain().round(value(in), m, std::signbit(value(in))); },
                       Compare::kBfloat16});
    }
  }
  forms.push_back({"cvt.rn.f16x2.f32 %d32, %a32, %b32;", 32,
                   [=](const Inputs& in) {
                     const float low = std::bit_cast<float>(static_cast<u32>(in.b));
                     return half().round(value(in), 0, std::signbit(value(in))) << 16 |
                            half().round(low, 0, std::signbit(low));
                   },
                   Compare::kFloat16x2});
  expect_forms("to half", forms, float_inputs(fairgv::harness::printed_seed()));
  forms.clear();
  forms.push_back({"cvt.rn.f16.f64 %d16, %a64;", 16,
                   [](const Inputs& in) {
                     const double x = std::bit_cast<double>(in.a);
                     return half().round(x, 0, std::signbit(x));
                   },
                   Compare::kFloat16});
  forms.push_back(
      {"cvt.rn.f16.s64 %d16, %a64;", 16,
       [](const Inputs& in) { return half().round(static_cast<Exact>(static_cast<std::int64_t>(in.a)), 0); },
       Compare::kFloat16});
  forms.push_back(
      {"cvt.rz.f16.u32 %d16, %a32;", 16,
       [](const Inputs& in) { return half().round(static_cast<Exact>(static_cast<u32>(in.a)), 1); },
       Compare::kFloat16});
  expect_forms("to half from wide", forms, double_inputs(fairgv::harness::printed_seed()));
}

}  // namespace
