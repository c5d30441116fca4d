// A word of memory that streams write and wait for (CUDA Driver API, "Stream Memory Operations").
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairgv::wire::cuda {

/// CUstreamWaitValue_flags, without the flush.
enum class Comparison : std::uint32_t { at_least, equal, common_bit, not_all_bits };
inline constexpr Comparison kLastComparison = Comparison::not_all_bits;

/// Whether a word of 4 or 8 bytes that is `now` passes the test.
constexpr bool passes(Comparison comparison, std::uint32_t bytes, std::uint64_t now, std::uint64_t wanted) {
  if (bytes == 4) {
    now = static_cast<std::uint32_t>(now);
    wanted = static_cast<std::uint32_t>(wanted);
  }
  const std::uint64_t all = bytes == 4 ? UINT32_MAX : UINT64_MAX;
  const std::uint64_t sign = (all >> 1U) + 1;
  switch (comparison) {
    case Comparison::at_least:  // cyclic: numbers may wrap around
      return ((now - wanted) & sign) == 0;
    case Comparison::equal:
      return now == wanted;
    case Comparison::common_bit:
      return (now & wanted) != 0;
    case Comparison::not_all_bits:
      return (now | wanted) != all;
  }
  return false;
}

/// The aligned word of 4 or 8 bytes at `from`. Acquire: pairs with whatever the program, a kernel or a stream
/// writes the word with, so that what was written before it is seen, too.
inline std::uint64_t load_word(std::byte* from, std::uint32_t bytes) {
  if (bytes == 4) {
    return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(from)).load(std::memory_order_acquire);
  }
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(from)).load(std::memory_order_acquire);
}

/// Release: pairs with load_word(), and with the program's and kernels' own loads.
inline void store_word(std::byte* to, std::uint32_t bytes, std::uint64_t value) {
  if (bytes == 4) {
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(to))
        .store(static_cast<std::uint32_t>(value), std::memory_order_release);
  } else {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to)).store(value, std::memory_order_release);
  }
}

}  // namespace fairgv::wire::cuda
