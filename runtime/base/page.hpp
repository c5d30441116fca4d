// The size of a page of memory on the machines that FairGV is built for (x86-64).
#pragma once

#include <cstdint>

namespace fairgv {

inline constexpr std::uint64_t kPageBytes = 4096;

/// The smallest multiple of a page that is not below `bytes`; 2^64 minus a page at most.
constexpr std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

constexpr std::uint64_t round_down_to_page(std::uint64_t bytes) {
  return bytes / kPageBytes * kPageBytes;
}

}  // namespace fairgv
