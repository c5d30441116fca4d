// Integer and bit instructions (PTX ISA, "Integer Arithmetic Instructions" and "Logic and Shift
// Instructions") against host arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

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
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

template <class U>
constexpr unsigned kBits = sizeof(U) * 8;

// The forms of one signedness and width. T is the operands' type, W holds any product of two operands.
template <class T, class W>
void add_arithmetic(std::vector<Form>& forms) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned bits = kBits<T>;
  const std::string type = (std::is_signed_v<T> ? "s" : "u") + std::to_string(bits);
  const auto form = [&](const std::string& text, auto function) {
    forms.push_back({replaced(text, bits, type), bits, [function](const Inputs& in) {
                       return static_cast<u64>(static_cast<U>(
                           function(static_cast<T>(in.a), static_cast<T>(in.b), static_cast<T>(in.c))));
                     }});
  };
  form("add.$t %d$, %a$, %b$;", [](T a, T b, T) { return static_cast<W>(a) + b; });
  form("sub.$t %d$, %a$, %b$;", [](T a, T b, T) { return static_cast<W>(a) - b; });
  form("mul.lo.$t %d$, %a$, %b$;", [](T a, T b, T) { return static_cast<W>(a) * b; });
  form("mul.hi.$t %d$, %a$, %b$;", [](T a, T b, T) { return static_cast<W>(a) * b >> bits; });
  form("mad.lo.$t %d$, %a$, %b$, %c$;",
       [](T a, T b, T c) { return static_cast<W>(static_cast<U>(static_cast<W>(a) * b)) + c; });
  form("mad.hi.$t %d$, %a$, %b$, %c$;", [](T a, T b, T c) { return (static_cast<W>(a) * b >> bits) + c; });
  form("div.$t %d$, %a$, %b$;", [](T a, T b, T) { return b == 0 ? W(-1) : static_cast<W>(a) / b; });
  form("rem.$t %d$, %a$, %b$;",
       [](T a, T b, T) { return b == 0 ? static_cast<W>(a) : static_cast<W>(a) % b; });
  form("min.$t %d$, %a$, %b$;", [](T a, T b, T) { return std::min(a, b); });
  form("max.$t %d$, %a$, %b$;", [](T a, T b, T) { return std::max(a, b); });
  form("sad.$t %d$, %a$, %b$, %c$;",
       [](T a, T b, T c) { return (a < b ? static_cast<W>(b) - a : static_cast<W>(a) - b) + c; });
  if constexpr (std::is_signed_v<T>) {
    form("abs.$t %d$, %a$;", [](T a, T, T) { return a < 0 ? 0 - static_cast<W>(a) : W(a); });
    form("neg.$t %d$, %a$;", [](T a, T, T) { return 0 - static_cast<W>(a); });
  }
}

template <class T>
void add_shifts(std::vector<Form>& forms, const std::string& type) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned bits = kBits<T>;
  const auto form = [&](const std::string& text, auto function) {
    forms.push_back({replaced(text, bits, type), bits, [function](const Inputs& in) {
                       return static_cast<u64>(
                           static_cast<U>(function(static_cast<T>(in.a), static_cast<u32>(in.b))));
                     }});
  };
  form("shr.$t %d$, %a$, %b32;", [](T a, u32 n) { return n >= bits ? (a < 0 ? -1 : 0) : a >> n; });
  form("shr.$t %d$, %a$, 3;", [](T a, u32) { return a >> 3; });
  form("shr.$t %d$, %a$, 77;", [](T a, u32) { return a < 0 ? -1 : 0; });
  form("shl.b$ %d$, %a$, %b32;",
       [](T a, u32 n) { return n >= bits ? U{0} : static_cast<U>(u64{static_cast<U>(a)} << n); });
  form("shl.b$ %d$, %a$, 5;", [](T a, u32) { return static_cast<U>(u64{static_cast<U>(a)} << 5); });
}

template <class U>
void add_logic(std::vector<Form>& forms) {
  constexpr unsigned bits = kBits<U>;
  const auto form = [&](const std::string& text, auto function) {
    forms.push_back({replaced(text, bits, ""), bits, [function](const Inputs& in) {
                       return static_cast<u64>(
                           static_cast<U>(function(static_cast<U>(in.a), static_cast<U>(in.b))));
                     }});
  };
  form("and.b$ %d$, %a$, %b$;", [](U a, U b) { return a & b; });
  form("or.b$ %d$, %a$, %b$;", [](U a, U b) { return a | b; });
  form("xor.b$ %d$, %a$, %b$;", [](U a, U b) { return a ^ b; });
  form("not.b$ %d$, %a$;", [](U a, U) { return ~a; });
  form("cnot.b$ %d$, %a$;", [](U a, U) { return a == 0 ? 1 : 0; });
  form("selp.b$ %d$, %a$, %b$, %pc;", [](U, U b) { return b; });
  forms.back().expected = [](const Inputs& in) {
    return static_cast<u64>(static_cast<U>(in.c & 1 ? in.a : in.b));
  };
  form("slct.b$.s32 %d$, %a$, %b$, %c32;", [](U, U b) { return b; });
  forms.back().expected = [](const Inputs& in) {
    return static_cast<u64>(static_cast<U>(static_cast<i32>(in.c) >= 0 ? in.a : in.b));
  };
  form("mov.b$ %d$, %a$;", [](U a, U) { return a; });
  form("add.u$ %d$, %a$, -7;", [](U a, U) { return a - 7; });
}

u32 permuted(u64 bytes, u32 selector) {
  u32 result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const u32 nibble = selector >> (4 * n) & 15;
    u8 byte = static_cast<u8>(bytes >> (8 * (nibble & 7)));
    if (nibble & 8) byte = static_cast<i8>(byte) < 0 ? 0xff : 0;
    result |= u32{byte} << (8 * n);
  }
  return result;
}

// PTX ISA, "bfe": bit by bit, as its pseudocode says.
u64 extracted(u64 a, unsigned bits, bool is_signed, u64 position, u64 length) {
  position &= 255;
  length &= 255;
  const u64 last = std::min<u64>(position + length - 1, bits - 1);
  const bool sign = is_signed && length != 0 && (a >> last & 1) != 0;
  u64 result = 0;
  for (u64 n = 0; n < bits; ++n) {
    const bool bit = n < length && position + n < bits ? (a >> (position + n) & 1) != 0 : sign;
    result |= u64{bit} << n;
  }
  return result;
}

u64 inserted(u64 a, u64 b, unsigned bits, u64 position, u64 length) {
  position &= 255;
  length &= 255;
  for (u64 n = 0; n < length && position + n < bits; ++n) {
    b = (b & ~(u64{1} << (position + n))) | (a >> n & 1) << (position + n);
  }
  return b;
}

void add_bit_fields(std::vector<Form>& forms) {
  forms.push_back({"bfe.u32 %d32, %a32, %b32, %c32;", 32,
                   [](const Inputs& in) { return extracted(u32(in.a), 32, false, in.b, in.c); }});
  forms.push_back({"bfe.s32 %d32, %a32, %b32, %c32;", 32,
                   [](const Inputs& in) { return extracted(u32(in.a), 32, true, in.b, in.c); }});
  forms.push_back({"bfe.u64 %d64, %a64, %b32, %c32;", 64,
                   [](const Inputs& in) { return extracted(in.a, 64, false, in.b, in.c); }});
  forms.push_back({"bfe.s64 %d64, %a64, %b32, %c32;", 64,
                   [](const Inputs& in) { return extracted(in.a, 64, true, in.b, in.c); }});
  forms.push_back({"bfi.b32 %d32, %a32, %b32, %c32, 9;", 32,
                   [](const Inputs& in) { return inserted(u32(in.a), u32(in.b), 32, in.c, 9); }});
  forms.push_back({"bfi.b32 %d32, %a32, %b32, 3, %c32;", 32,
                   [](const Inputs& in) { return inserted(u32(in.a), u32(in.b), 32, 3, in.c); }});
  forms.push_back({"bfi.b64 %d64, %a64, %b64, %c32, 40;", 64,
                   [](const Inputs& in) { return inserted(in.a, in.b, 64, in.c, 40); }});
  forms.push_back({"bmsk.clamp.b32 %d32, %a32, %b32;", 32, [](const Inputs& in) -> u64 {
                     const u64 p = std::min<u64>(u32(in.a), 32), n = std::min<u64>(u32(in.b), 32);
                     return u32(((u64{1} << n) - 1) << p);
                   }});
  forms.push_back({"szext.wrap.s32 %d32, %a32, %b32;", 32, [](const Inputs& in) -> u64 {
                     const u32 n = u32(in.b) & 31;
                     return n == 0 ? 0 : u32(static_cast<i32>(u32(in.a) << (32 - n)) >> (32 - n));
                   }});
}

void add_bit_counts(std::vector<Form>& forms) {
  forms.push_back(
      {"popc.b32 %d32, %a32;", 32, [](const Inputs& in) -> u64 { return u64(std::popcount(u32(in.a))); }});
  forms.push_back(
      {"popc.b64 %d32, %a64;", 32, [](const Inputs& in) -> u64 { return u64(std::popcount(in.a)); }});
  forms.push_back(
      {"clz.b32 %d32, %a32;", 32, [](const Inputs& in) -> u64 { return u64(std::countl_zero(u32(in.a))); }});
  forms.push_back(
      {"clz.b64 %d32, %a64;", 32, [](const Inputs& in) -> u64 { return u64(std::countl_zero(in.a)); }});
  forms.push_back({"bfind.u32 %d32, %a32;", 32,
                   [](const Inputs& in) -> u64 { return u32(31 - std::countl_zero(u32(in.a))); }});
  forms.push_back({"bfind.u64 %d32, %a64;", 32,
                   [](const Inputs& in) -> u64 { return u32(63 - std::countl_zero(in.a)); }});
  forms.push_back({"bfind.s32 %d32, %a32;", 32, [](const Inputs& in) -> u64 {
                     const i32 a = i32(in.a);
                     return u32(31 - std::countl_zero(u32(a < 0 ? ~a : a)));
                   }});
  forms.push_back({"bfind.shiftamt.s64 %d32, %a64;", 32, [](const Inputs& in) -> u64 {
                     const u64 a = i64(in.a) < 0 ? ~in.a : in.a;
                     return a == 0 ? 0xffffffffu : u64(std::countl_zero(a));
                   }});
  forms.push_back({"brev.b32 %d32, %a32;", 32, [](const Inputs& in) -> u64 {
                     u32 r = 0;
                     for (unsigned n = 0; n < 32; ++n) r |= u32(in.a >> n & 1) << (31 - n);
                     return r;
                   }});
  forms.push_back({"brev.b64 %d64, %a64;", 64, [](const Inputs& in) -> u64 {
                     u64 r = 0;
                     for (unsigned n = 0; n < 64; ++n) r |= (in.a >> n & 1) << (63 - n);
                     return r;
                   }});
  forms.push_back({"fns.b32 %d32, %a32, 5, 2;", 32, [](const Inputs& in) -> u64 {
                     int left = 2;
                     for (u64 n = 5; n < 32; ++n) {
                       if ((in.a >> n & 1) != 0 && --left == 0) return n;
                     }
                     return 0xffffffff;
                   }});
}

void add_words(std::vector<Form>& forms) {
  forms.push_back({"prmt.b32 %d32, %a32, %b32, %c32;", 32,
                   [](const Inputs& in) -> u64 { return permuted(in.b << 32 | u32(in.a), u32(in.c)); }});
  forms.push_back({"prmt.b32.b4e %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     constexpr u32 kSelectors[] = {0x5670, 0x6701, 0x7012, 0x0123};
                     return permuted(in.b << 32 | u32(in.a), kSelectors[in.c & 3]);
                   }});
  forms.push_back({"prmt.b32.ecr %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     constexpr u32 kSelectors[] = {0x0000, 0x1110, 0x2210, 0x3210};
                     return permuted(in.b << 32 | u32(in.a), kSelectors[in.c & 3]);
                   }});
  for (const unsigned table : {0x00u, 0xffu, 0x80u, 0xe8u, 0x96u, 0xcau, 0x1bu}) {
    forms.push_back({"lop3.b32 %d32, %a32, %b32, %c32, " + std::to_string(table) + ";", 32,
                     [table](const Inputs& in) -> u64 {
                       u32 r = 0;
                       for (unsigned n = 0; n < 32; ++n) {
                         const auto row = static_cast<unsigned>((in.a >> n & 1) << 2 | (in.b >> n & 1) << 1 |
                                                                (in.c >> n & 1));
                         r |= (table >> row & 1) << n;
                       }
                       return r;
                     }});
  }
  const auto funnel = [](u64 low, u64 high, u64 n, bool left) -> u64 {
    const u64 both = high << 32 | u32(low);
    return u32(left ? (n == 32 ? both : both << n >> 32) : (n == 32 ? both >> 32 : both >> n));
  };
  for (const bool left : {false, true}) {
    const std::string name = left ? "shf.l." : "shf.r.";
    forms.push_back({name + "wrap.b32 %d32, %a32, %b32, %c32;", 32,
                     [=](const Inputs& in) { return funnel(in.a, in.b, in.c & 31, left); }});
    forms.push_back({name + "clamp.b32 %d32, %a32, %b32, %c32;", 32, [=](const Inputs& in) {
                       const u64 n = std::min<u64>(u32(in.c), 32);
                       return left && n == 32 ? u64{u32(in.a)} : funnel(in.a, in.b, n, left);
                     }});
  }
}

void add_special(std::vector<Form>& forms) {
  forms.push_back({"mul.wide.s16 %d32, %a16, %b16;", 32,
                   [](const Inputs& in) -> u64 { return u32(i32{i16(in.a)} * i16(in.b)); }});
  forms.push_back({"mul.wide.u16 %d32, %a16, %b16;", 32,
                   [](const Inputs& in) -> u64 { return u32{u16(in.a)} * u16(in.b); }});
  forms.push_back({"mul.wide.s32 %d64, %a32, %b32;", 64,
                   [](const Inputs& in) -> u64 { return u64(i64{i32(in.a)} * i32(in.b)); }});
  forms.push_back({"mul.wide.u32 %d64, %a32, %b32;", 64,
                   [](const Inputs& in) -> u64 { return u64{u32(in.a)} * u32(in.b); }});
  forms.push_back({"mad.wide.s32 %d64, %a32, %b32, %c64;", 64,
                   [](const Inputs& in) -> u64 { return u64(i64{i32(in.a)} * i32(in.b)) + in.c; }});
  forms.push_back({"mad.wide.u16 %d32, %a16, %b16, %c32;", 32,
                   [](const Inputs& in) -> u64 { return u32(u32{u16(in.a)} * u16(in.b) + u32(in.c)); }});
  const auto clamped = [](i128 value) -> u64 { return u32(std::clamp<i128>(value, INT32_MIN, INT32_MAX)); };
  forms.push_back({"add.sat.s32 %d32, %a32, %b32;", 32,
                   [=](const Inputs& in) { return clamped(i128{i32(in.a)} + i32(in.b)); }});
  forms.push_back({"sub.sat.s32 %d32, %a32, %b32;", 32,
                   [=](const Inputs& in) { return clamped(i128{i32(in.a)} - i32(in.b)); }});
  forms.push_back({"mad.hi.sat.s32 %d32, %a32, %b32, %c32;", 32, [=](const Inputs& in) {
                     return clamped(i128{(i64{i32(in.a)} * i32(in.b)) >> 32} + i32(in.c));
                   }});
  const auto s24 = [](u64 a) { return i64{i32(u32(a) << 8) >> 8}; };
  forms.push_back({"mul24.lo.s32 %d32, %a32, %b32;", 32,
                   [=](const Inputs& in) -> u64 { return u32(s24(in.a) * s24(in.b)); }});
  forms.push_back({"mul24.hi.u32 %d32, %a32, %b32;", 32,
                   [](const Inputs& in) -> u64 { return u32((in.a & 0xffffff) * (in.b & 0xffffff) >> 16); }});
  forms.push_back({"mad24.lo.u32 %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     return u32((in.a & 0xffffff) * (in.b & 0xffffff) + in.c);
                   }});
  forms.push_back({"dp4a.s32.u32 %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     i64 sum = i32(in.c);
                     for (unsigned n = 0; n < 32; n += 8) sum += i64{i8(in.a >> n)} * u8(in.b >> n);
                     return u32(sum);
                   }});
  forms.push_back({"vabsdiff4.u32.u32.u32.add %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     i64 sum = u32(in.c);
                     for (unsigned n = 0; n < 32; n += 8) sum += std::abs(i64{u8(in.a >> n)} - u8(in.b >> n));
                     return u32(sum);
                   }});
  forms.push_back({"vabsdiff2.s32.s32.s32.add %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     i64 sum = u32(in.c);
                     for (unsigned n = 0; n < 32; n += 16)
                       sum += std::abs(i64{i16(in.a >> n)} - i16(in.b >> n));
                     return u32(sum);
                   }});
  forms.push_back({"dp2a.hi.u32.s32 %d32, %a32, %b32, %c32;", 32, [](const Inputs& in) -> u64 {
                     i64 sum = i32(in.c);
                     for (unsigned n = 0; n < 2; ++n)
                       sum += i64{u16(in.a >> (16 * n))} * i8(in.b >> (16 + 8 * n));
                     return u32(sum);
                   }});
}

// Carries: 128-bit sums and products put together from 64 and 32 bits.
void add_carries(std::vector<Form>& forms) {
  const auto sum = [](const Inputs& in) { return (u128{in.b} << 64 | in.a) + (u128{in.a} << 64 | in.c); };
  forms.push_back({"add.cc.u64 %y0, %a64, %c64;\naddc.u64 %d64, %b64, %a64;", 64,
                   [=](const Inputs& in) { return u64(sum(in) >> 64); }});
  const auto difference = [](const Inputs& in) {
    return (u128{in.b} << 64 | in.a) - (u128{in.a} << 64 | in.c);
  };
  forms.push_back({"sub.cc.u64 %y0, %a64, %c64;\nsubc.u64 %d64, %b64, %a64;", 64,
                   [=](const Inputs& in) { return u64(difference(in) >> 64); }});
  forms.push_back({"add.cc.u32 %x0, %a32, %b32;\naddc.cc.u32 %x1, %b32, %c32;\naddc.u32 %d32, 0, 0;", 32,
                   [](const Inputs& in) -> u64 {
                     return ((u64{u32(in.a)} + u32(in.b)) >> 32) + u32(in.b) + u64{u32(in.c)} > 0xffffffff;
                   }});
  // 64 x 64 bits from four 32-bit products, as wide multiplications are compiled.
  forms.push_back(
      {"mov.b64 {%x0, %x1}, %a64;\nmov.b64 {%x2, %x3}, %b64;\n"
       "mul.lo.u32 %x4, %x0, %x2;\nmul.hi.u32 %x5, %x0, %x2;\n"
       "mad.lo.cc.u32 %x5, %x1, %x2, %x5;\nmadc.hi.u32 %x6, %x1, %x2, 0;\n"
       "mad.lo.cc.u32 %x5, %x0, %x3, %x5;\nmadc.hi.cc.u32 %x6, %x0, %x3, %x6;\naddc.u32 %x7, 0, 0;\n"
       "mad.lo.cc.u32 %x6, %x1, %x3, %x6;\nmadc.hi.u32 %x7, %x1, %x3, %x7;\nmov.b64 %d64, {%x6, %x7};",
       64, [](const Inputs& in) { return u64(u128{in.a} * in.b >> 64); }});
}

TEST(PtxSweep, IntegerInstructionsGiveWhatHostArithmeticGives) {
  std::vector<Form> forms;
  add_arithmetic<i16, i64>(forms);
  add_arithmetic<u16, u64>(forms);
  add_arithmetic<i32, i64>(forms);
  add_arithmetic<u32, u64>(forms);
  add_arithmetic<i64, i128>(forms);
  add_arithmetic<u64, u128>(forms);
  add_special(forms);
  add_carries(forms);
  expect_forms("integer", forms, integer_inputs(fairgv::harness::printed_seed()));
}

TEST(PtxSweep, BitInstructionsGiveWhatHostArithmeticGives) {
  std::vector<Form> forms;
  add_shifts<i16>(forms, "s16");
  add_shifts<i32>(forms, "s32");
  add_shifts<i64>(forms, "s64");
  forms.push_back({"shr.u32 %d32, %a32, %b32;", 32,
                   [](const Inputs& in) -> u64 { return u32(in.b) >= 32 ? 0 : u32(in.a) >> u32(in.b); }});
  forms.push_back({"shr.u64 %d64, %a64, %b32;", 64,
                   [](const Inputs& in) -> u64 { return u32(in.b) >= 64 ? 0 : in.a >> u32(in.b); }});
  add_logic<u16>(forms);
  add_logic<u32>(forms);
  add_logic<u64>(forms);
  add_bit_fields(forms);
  add_bit_counts(forms);
  add_words(forms);
  expect_forms("bits", forms, integer_inputs(fairgv::harness::printed_seed()));
}

}  // namespace
