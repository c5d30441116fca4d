// What every translated module begins with: types, the block that kernel and host share (runtime_block.hpp declares the
// same in C++), traps, printf and clocks. Memory is addressed by plain 64-bit numbers: the devices that run this have
// one flat address space.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wunused-label"

#define FAIRGV_AS __global
typedef uchar __attribute__((may_alias)) fgv_u8;
typedef ushort __attribute__((may_alias)) fgv_u16;
typedef uint __attribute__((may_alias)) fgv_u32;
typedef ulong __attribute__((may_alias)) fgv_u64;
typedef ulong2 __attribute__((may_alias)) fgv_u128;
#define FAIRGV_AT(type, address) (*(FAIRGV_AS type*)(address))

struct fgv_runtime {
  ulong printf_address, printf_capacity, printf_used;
  uint trap_kind, trap_line;
  uint trap_block[3], trap_thread[3];
  ulong trap_message, trap_file, trap_function;
  ulong dynamic_shared_bytes, grid_id;
  ulong clock_base, timer_base, timer_scale;
  ulong scratch_flags, scratch_address, scratch_slot_bytes;
  uint scratch_slots, stack_bytes;
  ulong heap;
  uint grid[3], cooperative, barrier[4];
};
#define FAIRGV_RUNTIME(R) ((FAIRGV_AS struct fgv_runtime*)(R))

// The first one that traps tells why.
static void fgv_trap(ulong R, uint kind, uint x, uint y, uint z, ulong message, ulong file, ulong function, uint line) {
  FAIRGV_AS struct fgv_runtime* runtime = FAIRGV_RUNTIME(R);
  if (!__sync_bool_compare_and_swap(&runtime->trap_kind, 0u, kind)) return;
  runtime->trap_line = line;
  for (uint d = 0; d < 3; ++d) runtime->trap_block[d] = (uint)get_group_id(d);
  runtime->trap_thread[0] = x;
  runtime->trap_thread[1] = y;
  runtime->trap_thread[2] = z;
  runtime->trap_message = message;
  runtime->trap_file = file;
  runtime->trap_function = function;
}

// The address of the grid's barrier, where cooperative groups look for it; zero: the launch is not cooperative.
static ulong fgv_grid_barrier(ulong R) { return FAIRGV_RUNTIME(R)->cooperative ? (ulong)&FAIRGV_RUNTIME(R)->barrier : 0; }

// The bytes that a format's arguments take in the buffer that vprintf gets: 4 for an int, 8 for everything longer and
// for floating point, each at its own alignment.
static uint fgv_format_bytes(ulong format) {
  uint bytes = 0;
  for (ulong at = format; FAIRGV_AT(fgv_u8, at) != 0; ++at) {
    if (FAIRGV_AT(fgv_u8, at) != '%') continue;
    uint longs = 0;
    for (++at;; ++at) {
      const uchar c = FAIRGV_AT(fgv_u8, at);
      if (c == 'l' || c == 'j' || c == 'z' || c == 't') ++longs;
      if (c == '*') bytes = ((bytes + 3) & ~3u) + 4;
      if (c == 0 || c == '%') break;
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) || c == 'l' || c == 'j' || c == 'z' || c == 't' ||
          c == 'h' || c == 'L') {
        continue;
      }
      const bool wide = longs > 0 || c == 's' || c == 'p' || c == 'e' || c == 'E' || c == 'f' || c == 'F' ||
                        c == 'g' || c == 'G' || c == 'a' || c == 'A';
      bytes = wide ? ((bytes + 7) & ~7u) + 8 : ((bytes + 3) & ~3u) + 4;
      break;
    }
    if (FAIRGV_AT(fgv_u8, at) == 0) break;
  }
  return bytes;
}

static uint fgv_vprintf(ulong R, ulong format, ulong arguments) {
  FAIRGV_AS struct fgv_runtime* runtime = FAIRGV_RUNTIME(R);
  const uint bytes = fgv_format_bytes(format);
  const ulong need = 16 + ((bytes + 7) & ~7ul);
  const ulong at = __sync_fetch_and_add(&runtime->printf_used, need);
  if (at + need > runtime->printf_capacity) return 0xffffffffu;
  const ulong record = runtime->printf_address + at;
  FAIRGV_AT(fgv_u64, record) = format;
  FAIRGV_AT(fgv_u32, record + 8) = bytes;
  for (uint i = 0; i < bytes; ++i) FAIRGV_AT(fgv_u8, record + 16 + i) = FAIRGV_AT(fgv_u8, arguments + i);
  FAIRGV_AT(fgv_u32, record + 12) = 1;
  return bytes;
}

// Clang gives the counter the type long long, which OpenCL C makes 128 bits wide, over an instruction that yields 64:
// without the conversion the subtraction is of two widths, and LLVM ends the process.
static ulong fgv_clock(ulong R) { return (ulong)__builtin_readcyclecounter() - FAIRGV_RUNTIME(R)->clock_base; }
static ulong fgv_timer(ulong R) {
  const ulong cycles = fgv_clock(R);
  const ulong scale = FAIRGV_RUNTIME(R)->timer_scale;
  return FAIRGV_RUNTIME(R)->timer_base + (mul_hi(cycles, scale) << 32 | (cycles * scale) >> 32);
}

// `bytes` bytes to `to`: the first `read` of them from `from`, zeros after.
static void fgv_copy(ulong to, ulong from, uint bytes, uint read) {
  for (uint i = 0; i < bytes; ++i) FAIRGV_AT(fgv_u8, to + i) = i < read ? FAIRGV_AT(fgv_u8, from + i) : 0;
}
