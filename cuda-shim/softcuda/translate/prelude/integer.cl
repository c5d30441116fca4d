// Integer instructions that are more than an operator (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
// Instructions").

// Division by zero gives all ones and its remainder the dividend, as the hardware does; the smallest integer by -1 wraps.
#define FAIRGV_DIVISION(bits, U, S)                                                                             \
  static U fgv_div_u##bits(U a, U b) { return b == 0 ? (U)~(U)0 : (U)(a / b); }                              \
  static U fgv_rem_u##bits(U a, U b) { return b == 0 ? a : (U)(a % b); }                                     \
  static U fgv_div_s##bits(S a, S b) {                                                                       \
    return b == 0 ? (U)~(U)0 : b == -1 ? (U)(0 - (U)a) : (U)(a / b);                                         \
  }                                                                                                          \
  static U fgv_rem_s##bits(S a, S b) { return b == 0 ? (U)a : b == -1 ? (U)0 : (U)(a % b); }
FAIRGV_DIVISION(16, ushort, short)
FAIRGV_DIVISION(32, uint, int)
FAIRGV_DIVISION(64, ulong, long)

// Shifts clamp at the register's width.
#define FAIRGV_SHIFT(bits, U, S)                                                                    \
  static U fgv_shl_b##bits(U a, uint n) { return n >= bits ? (U)0 : (U)(a << n); }               \
  static U fgv_shr_u##bits(U a, uint n) { return n >= bits ? (U)0 : (U)(a >> n); }               \
  static U fgv_shr_s##bits(S a, uint n) { return (U)(a >> (n >= bits ? bits - 1 : n)); }
FAIRGV_SHIFT(16, ushort, short)
FAIRGV_SHIFT(32, uint, int)
FAIRGV_SHIFT(64, ulong, long)

static uint fgv_clz_b32(uint a) { return a == 0 ? 32u : (uint)__builtin_clz(a); }
static uint fgv_clz_b64(ulong a) { return a == 0 ? 64u : (uint)__builtin_clzl(a); }
static uint fgv_bfind_u32(uint a) { return 31u - fgv_clz_b32(a); }
static uint fgv_bfind_u64(ulong a) { return a == 0 ? ~0u : 63u - fgv_clz_b64(a); }
static uint fgv_bfind_s32(int a) { return fgv_bfind_u32((uint)(a < 0 ? ~a : a)); }
static uint fgv_bfind_s64(long a) { return fgv_bfind_u64((ulong)(a < 0 ? ~a : a)); }
static uint fgv_shiftamt_b32(uint found) { return found == ~0u ? found : 31u - found; }
static uint fgv_shiftamt_b64(uint found) { return found == ~0u ? found : 63u - found; }

// Position of the n-th set bit from `base` on, upwards for n > 0 and downwards for n < 0; n = 0 asks for the bit at base.
static uint fgv_fns(uint mask, uint base, int n) {
  if (base > 31) return ~0u;
  if (n == 0) return (mask >> base) & 1 ? base : ~0u;
  const int step = n > 0 ? 1 : -1;
  int left = n > 0 ? n : -n;
  for (int at = (int)base; at >= 0 && at < 32; at += step) {
    if ((mask >> at) & 1 && --left == 0) return (uint)at;
  }
  return ~0u;
}

#define FAIRGV_FIELD(bits, U)                                                                                     \
  static U fgv_field_mask_##bits(uint length) { return length >= bits ? ~(U)0 : (((U)1 << length) - 1); }      \
  static U fgv_bfe_u##bits(U a, uint position, uint length) {                                                  \
    position &= 255;                                                                                           \
    return fgv_shr_u##bits(a, position) & fgv_field_mask_##bits(length & 255);                                 \
  }                                                                                                            \
  static U fgv_bfe_s##bits(U a, uint position, uint length) {                                                  \
    position &= 255;                                                                                           \
    length &= 255;                                                                                             \
    const uint top = min(position + length - 1, bits - 1u);                                                    \
    const U sign = length == 0 ? (U)0 : (a >> top) & 1;                                                        \
    const U mask = fgv_field_mask_##bits(length == 0 ? 0 : position >= bits ? 0 : min(length, bits - position)); \
    return (fgv_shr_u##bits(a, position) & mask) | (sign != 0 ? ~mask : (U)0);                                 \
  }                                                                                                            \
  static U fgv_bfi_b##bits(U a, U b, uint position, uint length) {                                             \
    position &= 255;                                                                                           \
    const U mask = fgv_shl_b##bits(fgv_field_mask_##bits(length & 255), position);                             \
    return (fgv_shl_b##bits(a, position) & mask) | (b & ~mask);                                                \
  }
FAIRGV_FIELD(32, uint)
FAIRGV_FIELD(64, ulong)

static uint fgv_bmsk(uint position, uint length, uint clamp) {
  if (clamp == 0) {
    position &= 31;
    length &= 31;
  }
  return fgv_shl_b32(fgv_field_mask_32(length), position);
}

static uint fgv_szext(uint a, uint n, uint is_signed, uint clamp) {
  if (clamp == 0) n &= 31;
  if (n >= 32) return a;
  const uint mask = fgv_field_mask_32(n);
  const bool negative = is_signed != 0 && n > 0 && ((a >> (n - 1)) & 1) != 0;
  return negative ? a | ~mask : a & mask;
}

static uint fgv_prmt_byte(ulong bytes, uint selector) {
  const uint byte = (uint)(bytes >> (8 * (selector & 7))) & 255;
  return (selector & 8) != 0 ? ((byte & 128) != 0 ? 255u : 0u) : byte;
}
static uint fgv_prmt(uint a, uint b, uint c) {
  const ulong bytes = (ulong)b << 32 | a;
  return fgv_prmt_byte(bytes, c) | fgv_prmt_byte(bytes, c >> 4) << 8 | fgv_prmt_byte(bytes, c >> 8) << 16 |
         fgv_prmt_byte(bytes, c >> 12) << 24;
}
// The modes f4e, b4e, rc8, ecl, ecr, rc16 are permutes with a fixed selector for each value of c.
static uint fgv_prmt_mode(uint a, uint b, uint c, uint s0, uint s1, uint s2, uint s3) {
  c &= 3;
  return fgv_prmt(a, b, c == 0 ? s0 : c == 1 ? s1 : c == 2 ? s2 : s3);
}

static uint fgv_shf_l(uint a, uint b, uint n) { return n == 0 ? b : n >= 32 ? a : b << n | a >> (32 - n); }
static uint fgv_shf_r(uint a, uint b, uint n) { return n == 0 ? a : n >= 32 ? b : a >> n | b << (32 - n); }

static int fgv_byte(uint a, uint at, uint is_signed) {
  const uint byte = (a >> (8 * at)) & 255;
  return is_signed != 0 ? (int)(char)byte : (int)byte;
}
static uint fgv_dp4a(uint a, uint a_signed, uint b, uint b_signed, uint c) {
  for (uint i = 0; i < 4; ++i) c += (uint)(fgv_byte(a, i, a_signed) * fgv_byte(b, i, b_signed));
  return c;
}
static uint fgv_half(uint x, uint i, uint is_signed) {
  const uint half_word = (x >> (16 * i)) & 0xffff;
  return is_signed != 0 ? (uint)(int)(short)half_word : half_word;
}
// Sums of the absolute differences of four bytes or two halves, and c.
static uint fgv_vabsdiff4(uint a, uint a_signed, uint b, uint b_signed, uint c) {
  for (uint i = 0; i < 4; ++i) c += abs(fgv_byte(a, i, a_signed) - fgv_byte(b, i, b_signed));
  return c;
}
static uint fgv_vabsdiff2(uint a, uint a_signed, uint b, uint b_signed, uint c) {
  for (uint i = 0; i < 2; ++i) c += abs((int)fgv_half(a, i, a_signed) - (int)fgv_half(b, i, b_signed));
  return c;
}
static uint fgv_dp2a(uint a, uint a_signed, uint b, uint b_signed, uint c, uint high) {
  for (uint i = 0; i < 2; ++i) {
    const uint half_word = (a >> (16 * i)) & 0xffff;
    const int x = a_signed != 0 ? (int)(short)half_word : (int)half_word;
    c += (uint)x * (uint)fgv_byte(b, i + 2 * high, b_signed);
  }
  return c;
}

static long fgv_s24(uint a) { return (int)(a << 8) >> 8; }
