// printf of kernels: records that a launch left in its ring become text, by the rules of CUDA C++ Programming
// Guide, "Formatted Output" (C's printf without %n; arguments promoted to 4 or 8 bytes, each at its natural
// alignment).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace fairgv::cuda::soft {

/// `arguments`: the bytes that the kernel laid out. %s follows an address of the kernel. A missing argument
/// ends the text.
std::string format_device_text(const char* format, std::span<const std::byte> arguments);

/// The text of all whole records in the first `used` bytes of a ring.
std::string text_of_ring(const std::byte* ring, std::uint64_t used, std::uint64_t capacity);

}  // namespace fairgv::cuda::soft
