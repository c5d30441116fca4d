// memcpy with a faster path for a case in which memcpy is slow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairgv::icd {

/// Copies `bytes` bytes between places that do not overlap.
void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes);

}  // namespace fairgv::icd
