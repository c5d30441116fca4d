// Integer comparisons and conversions (PTX ISA, "Comparison and Selection Instructions", "cvt") against host
// arithmetic.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cuda/ptx/sweep.hpp"
#include "tests/harness/seed.hpp"

namespace {

using fairgv::ptx_test::expect_forms;
using fairgv::ptx_test::Form;
using fairgv::ptx_test::Inputs;
using fairgv::ptx_test::integer_inputs;
using fairgv::ptx_test::replaced;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
void add_comparisons(std::vector<Form>& forms) {
  constexpr unsigned bits = sizeof(T) * 8;
  const std::string type = (std::is_signed_v<T> ? "s" : "u") + std::to_string(bits);
  const auto form = [&](const std::string& text, unsigned result, auto function) {
    forms.push_back({replaced(text, bits, type), result, [function](const Inputs& in) {
                       return static_cast<u64>(
                           function(static_cast<T>(in.a), static_cast<T>(in.b), (in.c & 1) != 0));
                     }});
  };
  form("setp.eq.$t %dp, %a$, %b$;", 1, [](T a, T b, bool) { return a == b; });
  form("setp.ne.$t %dp, %a$, %b$;", 1, [](T a, T b, bool) { return a != b; });
  form("setp.lt.$t %dp, %a$, %b$;", 1, [](T a, T b, bool) { return a < b; });
  form("setp.le.$t %dp, %a$, %b$;", 1, [](T a, T b, bool) { return a <= b; });
  form("setp.gt.and.$t %dp, %a$, %b$, %pc;", 1, [](T a, T b, bool c) { return a > b && c; });
  form("setp.ge.or.$t %dp, %a$, %b$, !%pc;", 1, [](T a, T b, bool c) { return a >= b || !c; });
  form("setp.ge.xor.$t %p0|%dp, %a$, %b$, %pc;", 1, [](T a, T b, bool c) { return (a < b) != c; });
  form("set.lt.u32.$t %d32, %a$, %b$;", 32, [](T a, T b, bool) { return a < b ? 0xffffffffu : 0u; });
  form("set.ge.and.f32.$t %d32, %a$, %b$, %pc;", 32,
       [](T a, T b, bool c) { return a >= b && c ? 0x3f800000u : 0u; });
  if constexpr (!std::is_signed_v<T>) {
    form("setp.lo.$t %dp, %a$, %b$;", 1, [](T a, T b, bool) { return a < b; });
    form("setp.hs.$t %dp, %a$, %b$;", 1, [](T a, T b, bool) { return a >= b; });
  }
}

void add_conversions(std::vector<Form>& forms) {
  const auto form = [&](const std::string& text, unsigned bits, auto function) {
    forms.push_back({text, bits, [function, bits](const Inputs& in) {
                       const u64 value = static_cast<u64>(function(in.a));
                       return bits == 64 ? value : value & ((u64{1} << bits) - 1);
                     }});
  };
  form("cvt.s32.s8 %d32, %a32;", 32, [](u64 a) { return i8(a); });
  form("cvt.u32.u8 %d32, %a32;", 32, [](u64 a) { return u8(a); });
  form("cvt.s64.s32 %d64, %a32;", 64, [](u64 a) { return i64{i32(a)}; });
  form("cvt.u64.s32 %d64, %a32;", 64, [](u64 a) { return i64{i32(a)}; });
  form("cvt.s64.s16 %d64, %a16;", 64, [](u64 a) { return i64{i16(a)}; });
  form("cvt.u16.u64 %d16, %a64;", 16, [](u64 a) { return a; });
  form("cvt.s16.s8 %d16, %a16;", 16, [](u64 a) { return i8(a); });
  form("cvt.sat.u8.s32 %d32, %a32;", 32, [](u64 a) { return std::clamp<i32>(i32(a), 0, 255); });
  form("cvt.sat.s8.s64 %d32, %a64;", 32, [](u64 a) { return std::clamp<i64>(i64(a), -128, 127); });
  form("cvt.sat.u32.s64 %d32, %a64;", 32, [](u64 a) { return std::clamp<i64>(i64(a), 0, 0xffffffff); });
  form("cvt.sat.s32.u64 %d32, %a64;", 32, [](u64 a) { return std::min<u64>(a, 0x7fffffff); });
  for (const int bits : {2, 4, 8, 16}) {
    for (const bool is_signed : {false, true}) {
      const i64 least = is_signed ? -(i64{1} << (bits - 1)) : 0;
      const i64 most = least + (i64{1} << bits) - 1;
      const std::string type = (is_signed ? "s" : "u") + std::to_string(bits) + ".s32";
      forms.push_back({bits == 16 ? "cvt.pack.sat." + type + " %d32, %a32, %b32;"
                                  : "cvt.pack.sat." + type + ".b32 %d32, %a32, %b32, %c32;",
                       32, [=](const Inputs& in) {
                         const auto part = [&](u64 value) {
                           return static_cast<u64>(std::clamp<i64>(i32(value), least, most)) &
                                  ((u64{1} << bits) - 1);
                         };
                         const u64 rest = bits == 16 ? 0 : in.c << (2 * bits);
                         return static_cast<u64>(u32(rest | part(in.a) << bits | part(in.b)));
                       }});
    }
  }
  form("mov.b32 {%h0, %h1}, %a32;\nmov.b32 %d32, {%h1, %h0};", 32,
       [](u64 a) { return u32(a) << 16 | u32(a) >> 16; });
  form("mov.b64 {%h0, %h1, %h2, %h3}, %a64;\nmov.b64 %d64, {%h3, %h2, %h1, %h0};", 64,
       [](u64 a) { return a << 48 | (a >> 16 & 0xffff) << 32 | (a >> 32 & 0xffff) << 16 | a >> 48; });
  form("not.pred %dp, %pa;", 1, [](u64 a) { return ~a & 1; });
  form("@%pa mov.u32 %d32, 5;\n@!%pa mov.u32 %d32, 9;", 32, [](u64 a) { return a & 1 ? 5 : 9; });
}

TEST(PtxSweep, IntegerComparisonsAndConversionsGiveWhatHostArithmeticGives) {
  std::vector<Form> forms;
  add_comparisons<i16>(forms);
  add_comparisons<u16>(forms);
  add_comparisons<i32>(forms);
  add_comparisons<u32>(forms);
  add_comparisons<i64>(forms);
  add_comparisons<u64>(forms);
  add_conversions(forms);
  expect_forms("comparisons", forms, integer_inputs(fairgv::harness::printed_seed()));
}

}  // namespace
