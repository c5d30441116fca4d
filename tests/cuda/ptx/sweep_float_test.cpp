// Floating-point instructions and conversions (PTX ISA, "Floating-Point Instructions", "cvt") against the
// host's arithmetic in every rounding mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "tests/cuda/ptx/sweep.hpp"
#include "tests/harness/seed.hpp"

namespace {

using fairgv::ptx_test::Compare;
using fairgv::ptx_test::double_inputs;
using fairgv::ptx_test::expect_forms;
using fairgv::ptx_test::float_inputs;
using fairgv::ptx_test::Form;
using fairgv::ptx_test::Inputs;
using fairgv::ptx_test::integer_inputs;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

float single(u64 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits));
}
double real(u64 bits) {
  return std::bit_cast<double>(bits);
}
u64 bits_of(float value) {
  return std::bit_cast<u32>(value);
}
u64 bits_of(double value) {
  return std::bit_cast<u64>(value);
}

constexpr std::pair<const char*, int> kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// The value of `function` under a rounding mode; volatile, because the compiler does not know rounding modes.
template <class F>
auto rounded(int mode, F function) {
  const int before = std::fegetround();
  std::fesetround(mode);
  const volatile auto value = function();
  std::fesetround(before);
  const auto result = value;
  return result;
}

template <class Function>
Form single_form(const std::string& text, Function function) {
  return {text, 32,
          [function](const Inputs& in) {
            return bits_of(static_cast<float>(function(single(in.a), single(in.b), single(in.c))));
          },
          Compare::kFloat32};
}

template <class Function>
Form double_form(const std::string& text, Function function) {
  return {text, 64,
          [function](const Inputs& in) {
            return bits_of(static_cast<double>(function(real(in.a), real(in.b), real(in.c))));
          },
          Compare::kFloat64};
}

template <class T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

template <class T>
T larger(T a, T b) {
  return -smaller<T>(-a, -b);
}

float flushed(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}
float saturated(float x) {
  return std::isnan(x) || x <= 0 ? 0.0f : std::min(x, 1.0f);
}

TEST(PtxSweep, SinglePrecisionArithmeticRoundsAsTheHostDoes) {
  std::vector<Form> forms;
  for (const auto& [name, mode] : kRoundings) {
    const std::string r = std::string(".") + name + ".f32 ";
    const int m = mode;
    const auto form = [&](const std::string& opcode, const std::string& operands, auto function) {
      forms.push_back(single_form(opcode + r + operands, [m, function](float a, float b, float c) {
        // Read again under the rounding mode, so that the compiler computes nothing before the mode is set.
        const volatile float x = a, y = b, z = c;
        return rounded(m, [&] { return function(x, y, z); });
      }));
    };
    form("add", "%d32, %a32, %b32;", [](float a, float b, float) { return a + b; });
    form("sub", "%d32, %a32, %b32;", [](float a, float b, float) { return a - b; });
    form("mul", "%d32, %a32, %b32;", [](float a, float b, float) { return a * b; });
    form("div", "%d32, %a32, %b32;", [](float a, float b, float) { return a / b; });
    form("rcp", "%d32, %a32;", [](float a, float, float) { return 1.0f / a; });
    form("sqrt", "%d32, %a32;", [](float a, float, float) { return std::sqrt(a); });
    form("fma", "%d32, %a32, %b32, %c32;", [](float a, float b, float c) { return std::fma(a, b, c); });
  }
  expect_forms("single", forms, float_inputs(fairgv::harness::printed_seed()));
}

TEST(PtxSweep, DoublePrecisionArithmeticRoundsAsTheHostDoes) {
  std::vector<Form> forms;
  for (const auto& [name, mode] : kRoundings) {
    const std::string r = std::string(".") + name + ".f64 ";
    const int m = mode;
    const auto form = [&](const std::string& opcode, const std::string& operands, auto function) {
      forms.push_back(double_form(opcode + r + operands, [m, function](double a, double b, double c) {
        const volatile double x = a, y = b, z = c;
        return rounded(m, [&] { return function(x, y, z); });
      }));
    };
    form("add", "%d64, %a64, %b64;", [](double a, double b, double) { return a + b; });
    form("sub", "%d64, %a64, %b64;", [](double a, double b, double) { return a - b; });
    form("mul", "%d64, %a64, %b64;", [](double a, double b, double) { return a * b; });
    form("div", "%d64, %a64, %b64;", [](double a, double b, double) { return a / b; });
    form("rcp", "%d64, %a64;", [](double a, double, double) { return 1.0 / a; });
    form("sqrt", "%d64, %a64;", [](double a, double, double) { return std::sqrt(a); });
    form("fma", "%d64, %a64, %b64, %c64;", [](double a, double b, double c) { return std::fma(a, b, c); });
  }
  const u64 seed = fairgv::harness::printed_seed();
  std::vector<Inputs> inputs = double_inputs(seed);
  // Sums that nearly cancel: c is the negative product, or one of the values around it.
  std::mt19937_64 generator(seed);
  for (Inputs each : double_inputs(seed + 1)) {
    each.c = bits_of(-(real(each.a) * real(each.b))) + generator() % 5 - 2;
    inputs.push_back(each);
    each.b = (each.a ^ u64{1} << 63) + generator() % 5 - 2;
    inputs.push_back(each);
  }
  expect_forms("double, rounded", forms, inputs);
}

TEST(PtxSweep, SinglePrecisionModifiersAndSelections) {
  std::vector<Form> forms;
  forms.push_back(single_form("add.ftz.f32 %d32, %a32, %b32;",
                              [](float a, float b, float) { return flushed(flushed(a) + flushed(b)); }));
  forms.push_back(single_form("add.rn.f32.ftz %d32, %a32, %b32;",
                              [](float a, float b, float) { return flushed(flushed(a) + flushed(b)); }));
  forms.push_back(single_form("mul.ftz.sat.f32 %d32, %a32, %b32;", [](float a, float b, float) {
    return saturated(flushed(flushed(a) * flushed(b)));
  }));
  forms.push_back(single_form("fma.rn.sat.f32 %d32, %a32, %b32, %c32;",
                              [](float a, float b, float c) { return saturated(std::fma(a, b, c)); }));
  forms.push_back(single_form("neg.f32 %d32, %a32;", [](float a, float, float) { return -a; }));
  forms.push_back(
      single_form("abs.ftz.f32 %d32, %a32;", [](float a, float, float) { return std::fabs(flushed(a)); }));
  forms.push_back(
      single_form("min.f32 %d32, %a32, %b32;", [](float a, float b, float) { return smaller(a, b); }));
  forms.push_back(
      single_form("max.f32 %d32, %a32, %b32;", [](float a, float b, float) { return larger(a, b); }));
  forms.push_back(single_form("max.NaN.f32 %d32, %a32, %b32;", [](float a, float b, float) {
    return std::isnan(a) || std::isnan(b) ? NAN : larger(a, b);
  }));
  forms.push_back(single_form("min.xorsign.abs.f32 %d32, %a32, %b32;", [](float a, float b, float) {
    return std::copysign(smaller(std::fabs(a), std::fabs(b)),
                         std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
  }));
  forms.push_back(single_form("copysign.f32 %d32, %a32, %b32;",
                              [](float a, float b, float) { return std::copysign(b, a); }));
  forms.push_back(single_form("selp.f32 %d32, 0f3F800000, 0f00000000, %pa;",
                              [](float a, float, float) { return bits_of(a) & 1 ? 1.0f : 0.0f; }));
  forms.push_back(single_form("slct.f32.f32 %d32, %a32, %b32, %c32;",
                              [](float a, float b, float c) { return c >= 0 ? a : b; }));
  const auto test = [&](const std::string& text, auto function) {
    forms.push_back(
        {text, 1, [function](const Inputs& in) { return u64{function(single(in.a), single(in.b))}; }});
  };
  test("setp.eq.f32 %dp, %a32, %b32;", [](float a, float b) { return a == b; });
  test("setp.ne.f32 %dp, %a32, %b32;", [](float a, float b) { return a < b || a > b; });
  test("setp.lt.f32 %dp, %a32, %b32;", [](float a, float b) { return a < b; });
  test("setp.ge.f32 %dp, %a32, %b32;", [](float a, float b) { return a >= b; });
  test("setp.equ.f32 %dp, %a32, %b32;", [](float a, float b) { return !(a < b || a > b); });
  test("setp.neu.f32 %dp, %a32, %b32;", [](float a, float b) { return a != b; });
  test("setp.ltu.f32 %dp, %a32, %b32;", [](float a, float b) { return !(a >= b); });
  test("setp.geu.f32 %dp, %a32, %b32;", [](float a, float b) { return !(a < b); });
  test("setp.num.f32 %dp, %a32, %b32;", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); });
  test("setp.nan.ftz.f32 %dp, %a32, %b32;", [](float a, float b) { return std::isnan(a) || std::isnan(b); });
  test("setp.gt.ftz.f32 %dp, %a32, %b32;", [](float a, float b) { return flushed(a) > flushed(b); });
  test("testp.finite.f32 %dp, %a32;", [](float a, float) { return std::isfinite(a); });
  test("testp.infinite.f32 %dp, %a32;", [](float a, float) { return std::isinf(a); });
  test("testp.notanumber.f32 %dp, %a32;", [](float a, float) { return std::isnan(a); });
  test("testp.normal.f32 %dp, %a32;", [](float a, float) { return std::isnormal(a); });
  test("testp.subnormal.f32 %dp, %a32;", [](float a, float) { return std::fpclassify(a) == FP_SUBNORMAL; });
  expect_forms("single, modified", forms, float_inputs(fairgv::harness::printed_seed()));
}

// PTX ISA's stated errors: 2^-20.5 (absolute, sin and cos in [-pi, pi]), 2 units in the last place, 2^-22 for
// lg2.
TEST(PtxSweep, ApproximationsKeepTheErrorsThatPtxStates) {
  std::vector<Form> forms;
  const auto form = [&](const std::string& text, double tolerance, auto function) {
    forms.push_back({text, 32,
                     [function](const Inputs& in) {
                       return bits_of(static_cast<float>(
                           function(static_cast<double>(single(in.a)), static_cast<double>(single(in.b)))));
                     },
                     Compare::kApproximate, tolerance});
  };
  form("rcp.approx.f32 %d32, %a32;", 0x1p-23, [](double a, double) { return 1 / a; });
  form("sqrt.approx.f32 %d32, %a32;", 0x1p-22, [](double a, double) { return std::sqrt(a); });
  form("rsqrt.approx.f32 %d32, %a32;", 0x1p-22, [](double a, double) { return 1 / std::sqrt(a); });
  form("lg2.approx.f32 %d32, %a32;", 0x1p-22, [](double a, double) { return std::log2(a); });
  form("ex2.approx.f32 %d32, %a32;", 0x1p-22, [](double a, double) { return std::exp2(a); });
  form("tanh.approx.f32 %d32, %a32;", 0x1p-11, [](double a, double) { return std::tanh(a); });
  form("div.full.f32 %d32, %a32, %b32;", 0x1p-22, [](double a, double b) { return a / b; });
  form("div.approx.f32 %d32, %a32, %b32;", 0x1p-22, [](double a, double b) { return a / b; });
  expect_forms("approximate", forms, float_inputs(fairgv::harness::printed_seed()));
  std::vector<Form> circular;
  forms.swap(circular);
  form("sin.approx.f32 %d32, %a32;", 0x1p-20, [](double a, double) { return std::sin(a); });
  form("cos.approx.f32 %d32, %a32;", 0x1p-20, [](double a, double) { return std::cos(a); });
  std::vector<Inputs> angles;
  for (int n = -512; n <= 512; ++n)
    angles.push_back({bits_of(static_cast<float>(n) * 3.14159265f / 512), 0, 0});
  expect_forms("circular", forms, angles);
}

TEST(PtxSweep, DoublePrecisionGivesWhatTheHostGives) {
  std::vector<Form> forms;
  forms.push_back(double_form("add.f64 %d64, %a64, %b64;", [](double a, double b, double) { return a + b; }));
  forms.push_back(
      double_form("sub.rn.f64 %d64, %a64, %b64;", [](double a, double b, double) { return a - b; }));
  forms.push_back(double_form("mul.f64 %d64, %a64, %b64;", [](double a, double b, double) { return a * b; }));
  forms.push_back(
      double_form("mul.f64 %y0, %a64, %b64;\nadd.f64 %d64, %y0, %c64;", [](double a, double b, double c) {
        const volatile double product = a * b;
        return product + c;
      }));
  forms.push_back(double_form("fma.rn.f64 %d64, %a64, %b64, %c64;",
                              [](double a, double b, double c) { return std::fma(a, b, c); }));
  forms.push_back(
      double_form("div.rn.f64 %d64, %a64, %b64;", [](double a, double b, double) { return a / b; }));
  forms.push_back(
      double_form("sqrt.rn.f64 %d64, %a64;", [](double a, double, double) { return std::sqrt(a); }));
  forms.push_back(double_form("rcp.rn.f64 %d64, %a64;", [](double a, double, double) { return 1 / a; }));
  forms.push_back(
      double_form("min.f64 %d64, %a64, %b64;", [](double a, double b, double) { return smaller(a, b); }));
  forms.push_back(
      double_form("max.f64 %d64, %a64, %b64;", [](double a, double b, double) { return larger(a, b); }));
  forms.push_back(double_form("neg.f64 %d64, %a64;", [](double a, double, double) { return -a; }));
  forms.push_back(double_form("abs.f64 %d64, %a64;", [](double a, double, double) { return std::fabs(a); }));
  forms.push_back(
      double_form("cvt.rni.f64.f64 %d64, %a64;", [](double a, double, double) { return std::nearbyint(a); }));
  forms.push_back(
      double_form("cvt.rpi.f64.f64 %d64, %a64;", [](double a, double, double) { return std::ceil(a); }));
  forms.push_back({"setp.ltu.f64 %dp, %a64, %b64;", 1,
                   [](const Inputs& in) { return u64{!(real(in.a) >= real(in.b))}; }});
  for (const auto& [name, mode] : kRoundings) {
    const int m = mode;
    forms.push_back({std::string("cvt.") + name + ".f32.f64 %d32, %a64;", 32,
                     [m](const Inputs& in) {
                       const volatile double a = real(in.a);
                       return bits_of(rounded(m, [&] { return static_cast<float>(a); }));
                     },
                     Compare::kFloat32});
  }
  expect_forms("double", forms, double_inputs(fairgv::harness::printed_seed()));
}

// PTX ISA, "cvt": a value out of range is clamped; a NaN gives zero, or the top bit where double precision or
// 64 bits take part.
template <class T, class F>
u64 to_integer(F value, bool wide_source) {
  if (std::isnan(value)) return wide_source || sizeof(T) == 8 ? u64{1} << (sizeof(T) * 8 - 1) : 0;
  const long double x = value;
  const T result =
      x <= static_cast<long double>(std::numeric_limits<T>::min())   ? std::numeric_limits<T>::min()
      : x >= static_cast<long double>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max()
                                                                     : static_cast<T>(x);
  return static_cast<u64>(static_cast<std::make_unsigned_t<T>>(result));
}

template <class T>
void add_to_integer(std::vector<Form>& forms, const std::string& type, bool doubles) {
  const unsigned bits = std::max<unsigned>(16, sizeof(T) * 8);
  const std::string dest = "%d" + std::to_string(bits);
  const std::string source = doubles ? ".f64 " + dest + ", %a64;" : ".f32 " + dest + ", %a32;";
  const auto form = [&](const std::string& name, auto function) {
    forms.push_back(
        {"cvt." + name + "." + type + source, bits, [=](const Inputs& in) {
           const u64 value =
               doubles
                   ? to_integer<T>(function(real(in.a)), true)
                   : to_integer<T>(static_cast<float>(function(static_cast<double>(single(in.a)))), false);
           // Signed values are extended into a wider register.
           return sizeof(T) == 1 && std::is_signed_v<T> ? value | (value & 0x80 ? 0xff00 : 0) : value;
         }});
  };
  form("rzi", [](double a) { return std::trunc(a); });
  form("rni", [](double a) { return std::nearbyint(a); });
  form("rmi", [](double a) { return std::floor(a); });
  form("rpi", [](double a) { return std::ceil(a); });
}

void add_all_to_integer(std::vector<Form>& forms, bool doubles) {
  add_to_integer<std::int8_t>(forms, "s8", doubles);
  add_to_integer<std::uint8_t>(forms, "u8", doubles);
  add_to_integer<std::int16_t>(forms, "s16", doubles);
  add_to_integer<std::uint16_t>(forms, "u16", doubles);
  add_to_integer<std::int32_t>(forms, "s32", doubles);
  add_to_integer<std::uint32_t>(forms, "u32", doubles);
  add_to_integer<std::int64_t>(forms, "s64", doubles);
  add_to_integer<std::uint64_t>(forms, "u64", doubles);
}

TEST(PtxSweep, SinglePrecisionConvertsAsPtxSays) {
  std::vector<Form> forms;
  add_all_to_integer(forms, false);
  forms.push_back(
      single_form("cvt.rni.f32.f32 %d32, %a32;", [](float a, float, float) { return std::nearbyint(a); }));
  forms.push_back(
      single_form("cvt.rzi.f32.f32 %d32, %a32;", [](float a, float, float) { return std::trunc(a); }));
  forms.push_back(single_form("cvt.rmi.f32.f32.ftz %d32, %a32;",
                              [](float a, float, float) { return std::floor(flushed(a)); }));
  forms.push_back(single_form("cvt.rmi.ftz.f32.f32 %d32, %a32;",
                              [](float a, float, float) { return std::floor(flushed(a)); }));
  forms.push_back(
      single_form("cvt.sat.f32.f32 %d32, %a32;", [](float a, float, float) { return saturated(a); }));
  forms.push_back({"cvt.f64.f32 %d64, %a32;", 64,
                   [](const Inputs& in) { return bits_of(static_cast<double>(single(in.a))); },
                   Compare::kFloat64});
  expect_forms("from single", forms, float_inputs(fairgv::harness::printed_seed()));
}

// tf32 keeps 10 bits of the fraction. The rounded value is looked for in double precision, which holds all of
// them.
TEST(PtxSweep, SinglePrecisionConvertsToTf32AsPtxSays) {
  std::vector<Form> forms;
  const auto form = [&forms](const char* rounding, auto integral) {
    forms.push_back(
        {std::string("cvt.") + rounding + ".tf32.f32 %d32, %a32;", 32, [=](const Inputs& in) -> u64 {
           const float a = single(in.a);
           if (std::isnan(a)) return 0x7fffffff;
           if (std::isinf(a) || a == 0) return bits_of(a);
           // The step is that of the value's own power of two, and never below that of subnormals.
           const int step = std::max(std::ilogb(a), -126) - 10;
           return bits_of(static_cast<float>(std::ldexp(integral(std::ldexp(double{a}, -step)), step)));
         }});
  };
  form("rna", [](double a) { return std::round(a); });
  form("rn", [](double a) { return std::nearbyint(a); });
  form("rz", [](double a) { return std::trunc(a); });
  expect_forms("to tf32", forms, float_inputs(fairgv::harness::printed_seed()));
}

TEST(PtxSweep, DoublePrecisionConvertsAsPtxSays) {
  std::vector<Form> forms;
  add_all_to_integer(forms, true);
  expect_forms("from double", forms, double_inputs(fairgv::harness::printed_seed()));
}

// Zero is treated by itself: clang makes -0 of an unsigned zero where rounding is downwards.
template <class To>
To converted(auto integer) {
  return integer == 0 ? To{0} : static_cast<To>(integer);
}

TEST(PtxSweep, IntegersConvertToFloatingPointInEveryRounding) {
  std::vector<Form> forms;
  for (const auto& [name, mode] : kRoundings) {
    const int m = mode;
    const auto form = [&, &name = name](const std::string& type, unsigned bits, auto take) {
      const std::string source = ", %a" + std::to_string(bits) + ";";
      forms.push_back(
          {std::string("cvt.") + name + ".f32." + type + " %d32" + source, 32, [m, take](const Inputs& in) {
             const volatile auto a = take(in.a);
             return bits_of(rounded(m, [&] { return converted<float>(a); }));
           }});
      forms.push_back(
          {std::string("cvt.") + name + ".f64." + type + " %d64" + source, 64, [m, take](const Inputs& in) {
             const volatile auto a = take(in.a);
             return bits_of(rounded(m, [&] { return converted<double>(a); }));
           }});
    };
    form("s32", 32, [](u64 a) { return static_cast<std::int32_t>(a); });
    form("u32", 32, [](u64 a) { return static_cast<std::uint32_t>(a); });
    form("s64", 64, [](u64 a) { return static_cast<i64>(a); });
    form("u64", 64, [](u64 a) { return a; });
    form("s16", 16, [](u64 a) { return static_cast<std::int16_t>(a); });
  }
  expect_forms("from integers", forms, integer_inputs(fairgv::harness::printed_seed()));
}

}  // namespace
