// Atomic operations that the compiler has no builtin for: compare-and-swap loops (PTX ISA, "atom").
#define FAIRGV_ATOMIC(name, U, A, B, expression)                                 \
  static U name(ulong address, A x, B y) {                                    \
    FAIRGV_AS U* at = (FAIRGV_AS U*)address;                                        \
    U old = __atomic_load_n(at, __ATOMIC_RELAXED);                            \
    for (;;) {                                                                \
      const U seen = __sync_val_compare_and_swap(at, old, (U)(expression));   \
      if (seen == old) return old;                                            \
      old = seen;                                                             \
    }                                                                         \
  }
FAIRGV_ATOMIC(fgv_atom_min_s32, uint, int, int, (int)old < x ? (int)old : x)
FAIRGV_ATOMIC(fgv_atom_max_s32, uint, int, int, (int)old > x ? (int)old : x)
FAIRGV_ATOMIC(fgv_atom_min_u32, uint, uint, uint, old < x ? old : x)
FAIRGV_ATOMIC(fgv_atom_max_u32, uint, uint, uint, old > x ? old : x)
FAIRGV_ATOMIC(fgv_atom_min_s64, ulong, long, long, (long)old < x ? (long)old : x)
FAIRGV_ATOMIC(fgv_atom_max_s64, ulong, long, long, (long)old > x ? (long)old : x)
FAIRGV_ATOMIC(fgv_atom_min_u64, ulong, ulong, ulong, old < x ? old : x)
FAIRGV_ATOMIC(fgv_atom_max_u64, ulong, ulong, ulong, old > x ? old : x)
FAIRGV_ATOMIC(fgv_atom_inc_u32, uint, uint, uint, old >= x ? 0 : old + 1)
FAIRGV_ATOMIC(fgv_atom_dec_u32, uint, uint, uint, old == 0 || old > x ? x : old - 1)
FAIRGV_ATOMIC(fgv_atom_add_f32, uint, float, int, as_uint(as_float(old) + x))
FAIRGV_ATOMIC(fgv_atom_add_f64, ulong, double, int, as_ulong(as_double(old) + x))
FAIRGV_ATOMIC(fgv_atom_add_f16, ushort, ushort, int, fgv_f32_to_f16(fgv_f16_to_f32(old) + fgv_f16_to_f32(x), 0))
FAIRGV_ATOMIC(fgv_atom_add_bf16, ushort, ushort, int, fgv_f32_to_bf16(fgv_bf16_to_f32(old) + fgv_bf16_to_f32(x), 0))
#define FAIRGV_PAIR(type, op)                                                                                       \
  ((uint)fgv_f32_to_##type(fgv_##type##_to_f32((ushort)old) op fgv_##type##_to_f32((ushort)x), 0) |              \
   (uint)fgv_f32_to_##type(fgv_##type##_to_f32((ushort)(old >> 16)) op fgv_##type##_to_f32((ushort)(x >> 16)), 0) \
       << 16)
FAIRGV_ATOMIC(fgv_atom_add_f16x2, uint, uint, int, FAIRGV_PAIR(f16, +))
FAIRGV_ATOMIC(fgv_atom_add_bf16x2, uint, uint, int, FAIRGV_PAIR(bf16, +))
