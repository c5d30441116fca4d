// An amount of device memory as people write it: bytes, or per cent of a device (FAIRGV_MEM, `fairgv run
// --mem`, the daemon's configuration). It travels as text, because only the daemon knows the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv {

struct MemorySize {
  std::uint64_t bytes = 0;
  std::optional<std::uint32_t> percent{};  // 0 to 100, instead of bytes

  /// In bytes, on a device of `device_bytes`, rounded down.
  std::uint64_t of(std::uint64_t device_bytes) const;

  bool operator==(const MemorySize&) const = default;
};

inline constexpr MemorySize kWholeDevice{0, 100};
/// Characters of the text.
inline constexpr std::size_t kLongestMemorySize = 64;

/// Reads "1073741824", "512KiB", "512MiB", "15GiB", "1TiB" (K, M, G, T mean the same) or "25%". `source`
/// names where the text came from, for the error's text.
Result<MemorySize> parse_memory_size(const std::string& text, const std::string& source);

/// The same for a limit that a program asks for: 0 is refused, since the tenant could not even begin.
Result<MemorySize> parse_memory_limit(const std::string& text, const std::string& source);

/// The text that parse_memory_size() reads as the same size, in the largest unit that is exact.
std::string to_text(const MemorySize& size);

/// For people to read, rounded: "1.5 GiB".
std::string readable_bytes(std::uint64_t bytes);

}  // namespace fairgv
