// Floating point beyond the operators: flushing, saturation, directed rounding, half precision (PTX ISA, "Floating-Point
// Instructions", "Half Precision Floating-Point Instructions").
//
// Rounding modes as numbers: 0 rn, 1 rz, 2 rm, 3 rp, 4 rna.

// value = m * 2^e, plus something below m's last bit where `sticky`, into the bits of a format with `precision`
// significant bits and the largest exponent `emax`.
static ulong fgv_pack(bool negative, ulong m, int e, bool sticky, int precision, int emax, int mode) {
  const ulong hidden = 1ul << (precision - 1);
  const ulong infinity = (ulong)(2 * emax + 1) << (precision - 1);
  const ulong sign = negative ? (infinity | (hidden - 1)) + 1 : 0;
  if (m == 0) return sign;
  const int zeros = (int)__builtin_clzl(m);
  m <<= zeros;
  const int exponent = e - zeros + 63;
  const int lowest = 1 - emax;
  const int drop = 64 - precision + (exponent < lowest ? lowest - exponent : 0);
  const ulong kept = drop >= 64 ? 0 : m >> drop;
  const bool half_way = drop > 64 ? false : (m >> (drop - 1)) & 1;
  const bool rest = sticky || (drop > 64 ? true : (m & ((1ul << (drop - 1)) - 1)) != 0);
  const bool inexact = half_way || rest;
  const bool up = mode == 0   ? half_way && (rest || (kept & 1))
                  : mode == 1 ? false
                  : mode == 2 ? negative && inexact
                  : mode == 3 ? !negative && inexact
                              : half_way;
  const ulong rounded = kept + (up ? 1 : 0);
  const ulong bits = exponent < lowest ? rounded : ((ulong)(exponent + emax) << (precision - 1)) + (rounded - hidden);
  if (bits < infinity) return sign | bits;
  const bool to_infinity = mode == 0 || mode == 4 || (mode == 2 && negative) || (mode == 3 && !negative);
  return sign | (to_infinity ? infinity : infinity - 1);
}

static ulong fgv_pack_double(double x, int precision, int emax, int mode) {
  const ulong bits = as_ulong(x);
  const bool negative = bits >> 63;
  const int exponent = (int)(bits >> 52) & 2047;
  const ulong fraction = bits & 0xffffffffffffful;
  const ulong infinity = (ulong)(2 * emax + 1) << (precision - 1);
  if (exponent == 2047) {
    if (fraction != 0) return infinity | ((1ul << (precision - 1)) - 1);  // PTX's canonical NaN has every bit set
    return infinity | (negative ? (infinity | ((1ul << (precision - 1)) - 1)) + 1 : 0);
  }
  const ulong m = exponent == 0 ? fraction : fraction | 1ul << 52;
  return fgv_pack(negative, m, (exponent == 0 ? 1 : exponent) - 1075, false, precision, emax, mode);
}

// To nearest, and from there one step where the mode wants another neighbour.
static float fgv_f64_to_f32(double x, int mode) {
  const float nearest = (float)x;
  if (mode == 0) return nearest;
  const double back = (double)nearest;
  const uint bits = as_uint(nearest);
  if (mode == 1) return fabs(back) > fabs(x) ? as_float(bits - 1) : nearest;
  if (mode == 2 && back > x) return as_float((bits & 0x7fffffff) == 0 ? 0x80000001u : bits >> 31 ? bits + 1 : bits - 1);
  if (mode == 3 && back < x) return as_float((bits & 0x7fffffff) == 0 ? 0x00000001u : bits >> 31 ? bits - 1 : bits + 1);
  return nearest;
}
// To odd: toward zero, with the last bit set where something was lost. What is then rounded to a format with at least
// two bits less is rounded as if it came from x.
static float fgv_f64_to_odd_f32(double x) {
  const float nearest = (float)x;
  const double back = (double)nearest;
  if (back == x || x != x) return nearest;
  return as_float((fabs(back) > fabs(x) ? as_uint(nearest) - 1 : as_uint(nearest)) | 1);
}
// Halves below the normal ones are rounded by adding 0.5, whose last bit is theirs; others by adding to the bits.
static ushort fgv_nearest_f16(float x) {
  const uint sign = (as_uint(x) >> 16) & 0x8000;
  const uint bits = as_uint(x) & 0x7fffffff;
  const uint small = as_uint(as_float(bits) + 0.5f) - 0x3f000000;
  const uint normal = (bits + 0xc8000fff + ((bits >> 13) & 1)) >> 13;
  const uint magnitude = bits > 0x7f800000 ? 0x7fff : bits >= 0x47800000 ? 0x7c00 : bits < 0x38800000 ? small : normal;
  return (ushort)(bits > 0x7f800000 ? magnitude : sign | magnitude);
}
static ushort fgv_nearest_bf16(float x) {
  const uint bits = as_uint(x);
  return (ushort)(x != x ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
static ushort fgv_f32_to_f16(float x, int mode) {
  return mode == 0 ? fgv_nearest_f16(x) : (ushort)fgv_pack_double((double)x, 11, 15, mode);
}
static ushort fgv_f64_to_f16(double x, int mode) {
  return mode == 0 ? fgv_nearest_f16(fgv_f64_to_odd_f32(x)) : (ushort)fgv_pack_double(x, 11, 15, mode);
}
static ushort fgv_f32_to_bf16(float x, int mode) {
  return mode == 0 ? fgv_nearest_bf16(x) : (ushort)fgv_pack_double((double)x, 8, 127, mode);
}
static ushort fgv_f64_to_bf16(double x, int mode) {
  return mode == 0 ? fgv_nearest_bf16(fgv_f64_to_odd_f32(x)) : (ushort)fgv_pack_double(x, 8, 127, mode);
}
static float fgv_f16_to_f32(ushort h) {
  const uint sign = (uint)(h & 0x8000) << 16;
  const uint exponent = (h >> 10) & 31;
  const uint fraction = h & 0x3ff;
  const float tiny = (float)fraction * 0x1p-24f;
  const uint normal = (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13;
  return as_float(sign | (exponent == 0 ? as_uint(tiny) : normal));
}
// tf32 is f32 with 10 bits of fraction; `mode` 0 is to the nearest even, 1 towards zero, 4 to the nearest with ties
// away from zero.
static uint fgv_f32_to_tf32(float x, int mode) {
  const uint bits = as_uint(x);
  if (x != x) return 0x7fffffff;
  const uint more = mode == 1 ? 0 : mode == 4 ? 0x1000 : 0xfff + ((bits >> 13) & 1);
  return isinf(x) ? bits : (bits + more) & 0xffffe000;
}
static float fgv_bf16_to_f32(ushort h) { return as_float((uint)h << 16); }

static ulong fgv_pack_s64(long x, int precision, int emax, int mode) {
  return fgv_pack(x < 0, x < 0 ? 0 - (ulong)x : (ulong)x, 0, false, precision, emax, mode);
}
static ulong fgv_pack_u64(ulong x, int precision, int emax, int mode) {
  return fgv_pack(false, x, 0, false, precision, emax, mode);
}

// Directed rounding of single precision: the exact result, rounded to odd in double precision, rounds correctly to
// single precision in every mode, because double has more than two bits more.
static double fgv_to_odd(double sum, double error) {
  if (error == 0.0 || !isfinite(sum)) return sum;
  const ulong bits = as_ulong(sum);
  if (bits & 1) return sum;
  return as_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
static double fgv_exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return fgv_to_odd(sum, (a - a_part) + (b - b_part));
}
static float fgv_add_f32(float a, float b, int mode) {
  const double exact = fgv_exact_sum(a, b);
  if (exact == 0.0) {
    if (signbit(a) == signbit(b)) return a + b;
    return mode == 2 ? -0.0f : 0.0f;
  }
  return fgv_f64_to_f32(exact, mode);
}
static float fgv_mul_f32(float a, float b, int mode) { return fgv_f64_to_f32((double)a * (double)b, mode); }
static float fgv_fma_f32(float a, float b, float c, int mode) {
  const double product = (double)a * (double)b;
  const double exact = fgv_exact_sum(product, c);
  if (exact == 0.0) {
    if (signbit(product) == signbit(c)) return (float)(product + c);
    return mode == 2 ? -0.0f : 0.0f;
  }
  return fgv_f64_to_f32(exact, mode);
}
static float fgv_div_f32(float a, float b, int mode) {
  const double quotient = (double)a / (double)b;
  if (!isfinite(quotient) || quotient == 0.0) return (float)quotient;
  const double rest = fma(-quotient, (double)b, (double)a);
  return fgv_f64_to_f32(fgv_to_odd(quotient, b < 0 ? -rest : rest), mode);
}
static float fgv_sqrt_f32(float a, int mode) {
  const double root = sqrt((double)a);
  if (!isfinite(root) || root == 0.0) return (float)root;
  return fgv_f64_to_f32(fgv_to_odd(root, fma(-root, root, (double)a)), mode);
}

// One rounding for half types: the product of two is exact in double precision, the sum is rounded to odd.
static double fgv_half_fma(float a, float b, float c) { return fgv_exact_sum((double)a * (double)b, (double)c); }

static float fgv_ftz_f32(float x) { return fabs(x) < 0x1p-126f ? copysign(0.0f, x) : x; }
static double fgv_ftz_f64(double x) { return fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x; }
static ushort fgv_ftz_f16(ushort h) { return (h & 0x7c00) == 0 ? h & 0x8000 : h; }

// min and max: the number wins over a NaN unless .NaN says otherwise, and -0 is below +0.
#define FAIRGV_FLOAT(F, U, bits, nan_bits)                                                                \
  static F fgv_sat_f##bits(F x) { return x != x ? (F)0 : x <= (F)0 ? (F)0 : x >= (F)1 ? (F)1 : x; }    \
  static F fgv_min_f##bits(F a, F b) {                                                                 \
    if (a != a) return b != b ? as_##F((U)nan_bits) : b;                                               \
    if (b != b) return a;                                                                              \
    return a < b || (a == b && signbit(a)) ? a : b;                                                    \
  }                                                                                                    \
  static F fgv_max_f##bits(F a, F b) {                                                                 \
    if (a != a) return b != b ? as_##F((U)nan_bits) : b;                                               \
    if (b != b) return a;                                                                              \
    return a > b || (a == b && !signbit(a)) ? a : b;                                                   \
  }                                                                                                    \
  static F fgv_nan_f##bits(F a, F b, F r) { return a != a || b != b ? as_##F((U)nan_bits) : r; }       \
  static F fgv_relu_f##bits(F x) { return x != x ? as_##F((U)nan_bits) : x > (F)0 ? x : (F)0; }
FAIRGV_FLOAT(float, uint, 32, 0x7fffffffu)
FAIRGV_FLOAT(double, ulong, 64, 0x7ffffffffffffffful)

// Rounded floating point to integers: clamped, and what a NaN gives is an argument.
#define FAIRGV_TO_INTEGER(name, F, S, U, low, high, lowest, highest)                     \
  static U name(F x, U nan) {                                                         \
    return x != x ? nan : x < (F)low ? (U)lowest : x >= (F)high ? (U)highest : (U)(S)x; \
  }
#define FAIRGV_TO_INTEGERS(f, F)                                                                          \
  FAIRGV_TO_INTEGER(fgv_##f##_to_s8, F, char, uchar, -128, 128, -128, 127)                                \
  FAIRGV_TO_INTEGER(fgv_##f##_to_u8, F, uchar, uchar, 0, 256, 0, 255)                                     \
  FAIRGV_TO_INTEGER(fgv_##f##_to_s16, F, short, ushort, -32768, 32768, -32768, 32767)                     \
  FAIRGV_TO_INTEGER(fgv_##f##_to_u16, F, ushort, ushort, 0, 65536, 0, 65535)                              \
  FAIRGV_TO_INTEGER(fgv_##f##_to_s32, F, int, uint, -0x1p31, 0x1p31, 0x80000000u, 0x7fffffffu)            \
  FAIRGV_TO_INTEGER(fgv_##f##_to_u32, F, uint, uint, 0, 0x1p32, 0, 0xffffffffu)                           \
  FAIRGV_TO_INTEGER(fgv_##f##_to_s64, F, long, ulong, -0x1p63, 0x1p63, 0x8000000000000000ul,              \
                 0x7ffffffffffffffful)                                                                 \
  FAIRGV_TO_INTEGER(fgv_##f##_to_u64, F, ulong, ulong, 0, 0x1p64, 0, 0xfffffffffffffffful)
FAIRGV_TO_INTEGERS(f32, float)
FAIRGV_TO_INTEGERS(f64, double)
