#include "icd/transfer/copy_bytes.hpp"

#include <cstring>

namespace fairgv::icd {
namespace {

/// glibc copies at most this much with all loads before the first store.
constexpr std::uint64_t kBlock = 256;
/// From this size on glibc's memcpy handles the case by itself. It also knows when to write past the caches:
/// doing so from 16 MiB on was 1.3 to 1.9 times as fast on one generation of AMD EPYC, and 0.6 on another.
/// Two processors together copy no faster than one.
constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;

/// The destination begins a few bytes further into its page than the source does into its own. A processor
/// compares loads with the stores before them by the low 12 bits of their addresses; copied upwards, each
/// load then seems to need the store just made and waits for it: 3 GB/s instead of 40 (AMD EPYC). It is the
/// common case: our pieces of the arena begin on a page, large blocks of malloc 16 bytes into one.
bool loads_wait_for_stores(const std::byte* to, const std::byte* from) {
  const auto distance =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % 4096;
  return distance > 0 && distance < 64;
}

/// Both addresses may be the program's own: a buffer's memory that it has mapped, and a pointer into it.
bool overlap(const std::byte* to, const std::byte* from, std::uint64_t bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(to);
  const auto b = reinterpret_cast<std::uintptr_t>(from);
  return (a > b ? a - b : b - a) < bytes;
}

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  std::uint64_t left = bytes;
  if (bytes < kLarge && loads_wait_for_stores(to, from) && !overlap(to, from, bytes)) {
    // Downwards, the next loads are never just above the last stores.
    for (; left >= kBlock; left -= kBlock) std::memcpy(to + left - kBlock, from + left - kBlock, kBlock);
  }
  std::memmove(to, from, left);
}

}  // namespace fairgv::icd
