// memmove with a faster path for a case in which memmove is slow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairgv::icd {

/// Copies `bytes` bytes. The places may overlap: `to` gets what `from` held before.
void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes);

}  // namespace fairgv::icd
