// memcpy, but for two cases in which memcpy is slower than it could be.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairgv::icd {

/// Copies `bytes` bytes between places that do not overlap.
void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes);

}  // namespace fairgv::icd
