// Double precision with directed rounding (PTX ISA, "Floating-Point Instructions", .rz .rm .rp): the exact result in
// integers, and fgv_pack. Modes as in float.cl.

struct fgv_parts {
  bool negative;
  ulong m;  // the value is m * 2^e
  int e;
};
static struct fgv_parts fgv_d64_parts(double x) {
  const ulong bits = as_ulong(x);
  const int exponent = (int)(bits >> 52) & 2047;
  struct fgv_parts parts;
  parts.negative = bits >> 63;
  parts.m = exponent == 0 ? bits & 0xffffffffffffful : (bits & 0xffffffffffffful) | 1ul << 52;
  parts.e = (exponent == 0 ? 1 : exponent) - 1075;
  return parts;
}
static double fgv_d64_pack(bool negative, ulong m, int e, bool sticky, int mode) {
  return as_double(fgv_pack(negative, m, e, sticky, 53, 1023, mode));
}
// The same of 128 bits.
static double fgv_d64_pack2(bool negative, ulong high, ulong low, int e, bool sticky, int mode) {
  if (high == 0) return fgv_d64_pack(negative, low, e, sticky, mode);
  const int zeros = (int)__builtin_clzl(high);
  if (zeros != 0) {
    high = high << zeros | low >> (64 - zeros);
    low <<= zeros;
  }
  return fgv_d64_pack(negative, high, e + 64 - zeros, sticky || low != 0, mode);
}

static double fgv_d64_zero_sum(double a, double b, int mode) {
  return signbit(a) == signbit(b) ? a : mode == 2 ? -0.0 : 0.0;
}

// (high:low) * 2^e of one sign and of the other, both with bit 126 as their highest.
struct fgv_wide {
  bool negative;
  ulong high, low;
  int e;
};
static struct fgv_wide fgv_d64_widen(bool negative, ulong high, ulong low, int e) {
  int left = high != 0 ? (int)__builtin_clzl(high) - 1 : 63 + (int)__builtin_clzl(low);
  struct fgv_wide wide;
  wide.negative = negative;
  wide.e = e - left;
  if (left >= 64) {
    high = low;
    low = 0;
    left -= 64;
  }
  wide.high = left > 0 ? high << left | low >> (64 - left) : high;
  wide.low = low << left;
  return wide;
}
static double fgv_d64_sum(struct fgv_wide a, struct fgv_wide b, int mode) {
  if (a.e < b.e || (a.e == b.e && (a.high < b.high || (a.high == b.high && a.low < b.low)))) {
    const struct fgv_wide swap = a;
    a = b;
    b = swap;
  }
  const int right = a.e - b.e;
  bool sticky = false;
  if (right >= 128) {
    sticky = true;
    b.high = b.low = 0;
  } else if (right >= 64) {
    const int rest = right - 64;
    sticky = b.low != 0 || (rest != 0 && b.high << (64 - rest) != 0);
    b.low = b.high >> rest;
    b.high = 0;
  } else if (right != 0) {
    sticky = b.low << (64 - right) != 0;
    b.low = b.low >> right | b.high << (64 - right);
    b.high >>= right;
  }
  if (a.negative == b.negative) {
    const ulong low = a.low + b.low;
    return fgv_d64_pack2(a.negative, a.high + b.high + (low < a.low ? 1 : 0), low, a.e, sticky, mode);
  }
  // The lost part of b makes the difference smaller: it lies above the next lower integer.
  const ulong lost = sticky ? 1 : 0;
  const ulong low = a.low - b.low;
  const ulong high = a.high - b.high - (a.low < b.low ? 1 : 0) - (low < lost ? 1 : 0);
  if ((high | (low - lost)) == 0 && !sticky) return mode == 2 ? -0.0 : 0.0;
  return fgv_d64_pack2(a.negative, high, low - lost, a.e, sticky, mode);
}

static double fgv_d64_add(double a, double b, int mode) {
  if (!isfinite(a) || !isfinite(b)) return a + b;
  if (a == 0 && b == 0) return fgv_d64_zero_sum(a, b, mode);
  if (a == 0) return b;
  if (b == 0) return a;
  const struct fgv_parts x = fgv_d64_parts(a), y = fgv_d64_parts(b);
  return fgv_d64_sum(fgv_d64_widen(x.negative, 0, x.m, x.e), fgv_d64_widen(y.negative, 0, y.m, y.e), mode);
}
static double fgv_d64_mul(double a, double b, int mode) {
  if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) return a * b;
  const struct fgv_parts x = fgv_d64_parts(a), y = fgv_d64_parts(b);
  return fgv_d64_pack2(x.negative != y.negative, mul_hi(x.m, y.m), x.m * y.m, x.e + y.e, false, mode);
}
static double fgv_d64_fma(double a, double b, double c, int mode) {
  if (!isfinite(a) || !isfinite(b) || !isfinite(c)) return fma(a, b, c);
  if (a == 0 || b == 0) return fgv_d64_add(a * b, c, mode);
  if (c == 0) return fgv_d64_mul(a, b, mode);
  const struct fgv_parts x = fgv_d64_parts(a), y = fgv_d64_parts(b), z = fgv_d64_parts(c);
  return fgv_d64_sum(fgv_d64_widen(x.negative != y.negative, mul_hi(x.m, y.m), x.m * y.m, x.e + y.e),
                     fgv_d64_widen(z.negative, 0, z.m, z.e), mode);
}
static double fgv_d64_div(double a, double b, int mode) {
  if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) return a / b;
  const struct fgv_parts x = fgv_d64_parts(a), y = fgv_d64_parts(b);
  const int left_x = (int)__builtin_clzl(x.m), left_y = (int)__builtin_clzl(y.m);
  const ulong divisor = y.m << left_y;
  ulong rest = x.m << left_x, quotient = 0;
  bool carry = false;
  for (int i = 0; i < 64; ++i) {
    const bool bit = carry || rest >= divisor;
    if (bit) rest -= divisor;
    quotient = quotient << 1 | (bit ? 1 : 0);
    carry = rest >> 63;
    rest <<= 1;
  }
  return fgv_d64_pack(x.negative != y.negative, quotient, x.e - left_x - (y.e - left_y) - 63, carry || rest != 0, mode);
}
static double fgv_d64_sqrt(double a, int mode) {
  if (!isfinite(a) || a <= 0 || a != a) return sqrt(a);
  struct fgv_parts x = fgv_d64_parts(a);
  int left = (int)__builtin_clzl(x.m) - 10;  // 54 bits or 53
  if ((x.e - left) & 1) --left;
  x.m = left >= 0 ? x.m << left : x.m >> -left;
  const int e = x.e - left;
  ulong root = 0, rest = 0;
  for (int pair = 55; pair >= 0; --pair) {
    // The digits of m * 2^58, two bits at a time.
    rest = rest << 2 | (pair >= 29 ? x.m >> (2 * (pair - 29)) & 3 : 0);
    const ulong trial = root << 2 | 1;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  return fgv_d64_pack(false, root, (e - 58) / 2, rest != 0, mode);
}
