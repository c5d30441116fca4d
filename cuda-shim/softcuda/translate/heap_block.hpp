// The heap of malloc in kernels, which lives as long as its context: the driver lays it out once, kernels do
// the rest. prelude/heap.cl declares the same head in OpenCL C and says how the blocks lie.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairgv::softcuda {

struct HeapHead {
  std::uint32_t lock = 0;
  std::uint32_t reserved = 0;
  std::uint64_t begin = 0;  // address of the first block
  std::uint64_t end = 0;    // address of the last one, which is never free
  std::uint64_t lists[64] = {};
};
static_assert(sizeof(HeapHead) == 536);

inline constexpr std::uint64_t kHeapHeadBytes = 544;  // blocks are aligned to 16
/// Of memory for a heap whose blocks take `bytes` together.
inline constexpr std::uint64_t heap_memory_bytes(std::uint64_t bytes) {
  return kHeapHeadBytes + bytes / 16 * 16 + 16;
}

/// Makes an empty heap of `bytes`, at least 32, in memory that is aligned to 16.
inline void make_heap(std::byte* memory, std::uint64_t bytes) {
  HeapHead head;
  head.begin = reinterpret_cast<std::uint64_t>(memory) + kHeapHeadBytes;
  head.end = head.begin + bytes / 16 * 16;
  const std::uint64_t size = head.end - head.begin;
  head.lists[63 - std::countl_zero(size)] = head.begin;
  const std::uint64_t first[4] = {size, 0, 0, 0};
  const std::uint64_t last[2] = {1, size};
  std::memcpy(memory, &head, sizeof head);
  std::memcpy(memory + kHeapHeadBytes, first, sizeof first);
  std::memcpy(memory + kHeapHeadBytes + size, last, sizeof last);
}

}  // namespace fairgv::softcuda
