// The block that a translated kernel and the host share at run time: the driver fills it before a launch and
// reads it after. One block per device is enough while launches do not overlap; prelude/base.cl declares the
// same struct in OpenCL C.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairgv::softcuda {

enum class TrapKind : std::uint32_t {
  kNone = 0,
  kTrap = 1,          // trap: CUDA_ERROR_ILLEGAL_INSTRUCTION
  kAssert = 2,        // __assertfail: CUDA_ERROR_ASSERT
  kDeadlock = 3,      // no thread of a block can go on
  kScratch = 4,       // a stepped kernel found no scratch memory, or too little
  kSurface = 5,       // an access outside a surface that asked for a trap: CUDA_ERROR_LAUNCH_FAILED
  kStack = 6,         // a call stack is full: CUDA_ERROR_HARDWARE_STACK_ERROR
  kNoFunction = 7,    // a call through a pointer that leads to no function: CUDA_ERROR_INVALID_PC
  kRefused = 8,       // a call of a function that cannot be translated, with the reason as the message
  kNotAllocated = 9,  // free of what malloc did not return: CUDA_ERROR_ILLEGAL_ADDRESS
};

struct RuntimeBlock {
  // Ring of printf records; a record that does not fit is dropped, and printf_used still grows.
  std::uint64_t printf_address = 0;
  std::uint64_t printf_capacity = 0;  // bytes
  std::uint64_t printf_used = 0;  // bytes; kernels add with relaxed atomics, the host reads after the launch
  // The first trap of a launch: trap_kind is claimed by compare-and-swap, the rest is written by the winner.
  std::uint32_t trap_kind = 0;
  std::uint32_t trap_line = 0;  // of an assertion
  std::uint32_t trap_block[3] = {0, 0, 0};
  std::uint32_t trap_thread[3] = {0, 0, 0};
  std::uint64_t trap_message = 0;  // addresses of zero-terminated texts in the module's data segment
  std::uint64_t trap_file = 0;
  std::uint64_t trap_function = 0;
  // The launch.
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t grid_id = 0;
  // %globaltimer = timer_base + (cycle counter - clock_base) * timer_scale / 2^32, in nanoseconds; %clock
  // counts cycles from clock_base.
  std::uint64_t clock_base = 0;
  std::uint64_t timer_base = 0;
  std::uint64_t timer_scale = 0;
  // Scratch of stepped kernels: scratch_slots flags of 4 bytes (zero = free) at scratch_flags, and as many
  // areas of scratch_slot_bytes from scratch_address (aligned to 64) on. A block takes a slot by
  // compare-and-swap and returns it; with at least as many slots as work-groups that run at once, it never
  // waits.
  std::uint64_t scratch_flags = 0;
  std::uint64_t scratch_address = 0;
  std::uint64_t scratch_slot_bytes = 0;
  std::uint32_t scratch_slots = 0;
  // Of each thread's call stack: part of the scratch of kernels that have one. A multiple of 64.
  std::uint32_t stack_bytes = 0;
  // The heap of malloc (heap_block.hpp): its HeapHead. Zero: there is none, and malloc returns null.
  std::uint64_t heap = 0;
  // Of kernels whose blocks may wait for each other (KernelInfo::cooperates): the grid, whose blocks have a
  // scratch slot each; and whether it is a cooperative launch, which has a barrier of the grid at `barrier`
  // (cooperative groups: 4 bytes that only they use, and the count of arrivals).
  std::uint32_t grid[3] = {0, 0, 0};
  std::uint32_t cooperative = 0;
  std::uint32_t barrier[4] = {0, 0, 0, 0};
};

/// In front of the argument bytes of every printf record; the next record follows 8-aligned.
struct PrintfRecord {
  std::uint64_t format = 0;          // address of the format string
  std::uint32_t argument_bytes = 0;  // 4 or 8 bytes each, 8-byte ones aligned to 8
  std::uint32_t complete = 0;        // 1 once the record is written
};

static_assert(sizeof(RuntimeBlock) == 192);
static_assert(sizeof(PrintfRecord) == 16);
static_assert(offsetof(RuntimeBlock, trap_message) == 56);
static_assert(offsetof(RuntimeBlock, scratch_flags) == 120);
static_assert(offsetof(RuntimeBlock, barrier) == 176);

}  // namespace fairgv::softcuda
