// Products of matrices whose elements are spread over the lanes of a warp (PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions"). Every lane has put its registers of A, and at `b` those of B, into an area of its
// own; the areas of a warp's lanes lie `stride` bytes apart. A lane computes its own elements of D.

// Where the element at (line, k) lies, line being a row of A or a column of B: the lane, and the element's number among
// that lane's, which the layouts of mma give, or for wmma, which leaves the layout open, ours: lanes in the order of
// lines, `each` elements in a lane. `lines`: 8 lines that share a k in a lane's registers (A of 16 rows has 2).
struct fgv_fragments {
  ulong areas, stride, b;
  uint k, bits, a_lines, a_each, b_each;  // a_each, b_each: 0 for mma
};
static ulong fgv_fragment(const struct fgv_fragments* f, uint line, uint k, uint lines, uint each, uint* index) {
  if (each != 0) {
    const uint at = line * f->k + k;
    *index = at % each;
    return f->areas + (at / each) * f->stride;
  }
  const uint word = f->bits < 32 ? 32 / f->bits : 1;
  const uint within = k % (4 * word);
  *index = ((k / (4 * word)) * lines + (line >> 3)) * word + within % word;
  return f->areas + ((line & 7) * 4 + within / word) * f->stride;
}

#define FAIRGV_GET_f16(at, n) fgv_f16_to_f32(FAIRGV_AT(fgv_u16, (at) + 2 * (n)))
#define FAIRGV_GET_bf16(at, n) fgv_bf16_to_f32(FAIRGV_AT(fgv_u16, (at) + 2 * (n)))
#define FAIRGV_GET_tf32(at, n) as_float(FAIRGV_AT(fgv_u32, (at) + 4 * (n)) & 0xffffe000u)
#define FAIRGV_GET_f64(at, n) as_double(FAIRGV_AT(fgv_u64, (at) + 8 * (n)))
#define FAIRGV_GET_s8(at, n) ((long)(char)FAIRGV_AT(fgv_u8, (at) + (n)))
#define FAIRGV_GET_u8(at, n) ((long)FAIRGV_AT(fgv_u8, (at) + (n)))
#define FAIRGV_GET_u4(at, n) ((long)(FAIRGV_AT(fgv_u8, (at) + (n) / 2) >> (4 * ((n) & 1)) & 15))
#define FAIRGV_GET_s4(at, n) ((FAIRGV_GET_u4(at, n) ^ 8) - 8)
#define FAIRGV_GET_b1(at, n) ((long)(FAIRGV_AT(fgv_u8, (at) + (n) / 8) >> ((n) & 7) & 1))
#define FAIRGV_FMA(a, b, sum) fma(a, b, sum)
#define FAIRGV_MAD(a, b, sum) ((a) * (b) + (sum))
#define FAIRGV_XOR(a, b, sum) (((a) ^ (b)) + (sum))

#define FAIRGV_MMA(name, T, A, B, STEP)                                                       \
  static T fgv_mma_##name(const struct fgv_fragments* f, uint row, uint column, T sum) {      \
    for (uint k = 0; k < f->k; ++k) {                                                         \
      uint in_a, in_b;                                                                        \
      const ulong a = fgv_fragment(f, row, k, f->a_lines, f->a_each, &in_a);                  \
      const ulong b = fgv_fragment(f, column, k, 1, f->b_each, &in_b) + f->b;                 \
      sum = STEP(FAIRGV_GET_##A(a, in_a), FAIRGV_GET_##B(b, in_b), sum);                      \
    }                                                                                         \
    return sum;                                                                               \
  }
FAIRGV_MMA(f16_f16, float, f16, f16, FAIRGV_FMA)
FAIRGV_MMA(bf16_bf16, float, bf16, bf16, FAIRGV_FMA)
FAIRGV_MMA(tf32_tf32, float, tf32, tf32, FAIRGV_FMA)
FAIRGV_MMA(f64_f64, double, f64, f64, FAIRGV_FMA)
FAIRGV_MMA(s8_s8, long, s8, s8, FAIRGV_MAD)
FAIRGV_MMA(s8_u8, long, s8, u8, FAIRGV_MAD)
FAIRGV_MMA(u8_s8, long, u8, s8, FAIRGV_MAD)
FAIRGV_MMA(u8_u8, long, u8, u8, FAIRGV_MAD)
FAIRGV_MMA(s4_s4, long, s4, s4, FAIRGV_MAD)
FAIRGV_MMA(s4_u4, long, s4, u4, FAIRGV_MAD)
FAIRGV_MMA(u4_s4, long, u4, s4, FAIRGV_MAD)
FAIRGV_MMA(u4_u4, long, u4, u4, FAIRGV_MAD)
FAIRGV_MMA(b1_b1, long, b1, b1, FAIRGV_MAD)
FAIRGV_MMA(b1_xor, long, b1, b1, FAIRGV_XOR)
