// The machine code that sends a function's callers elsewhere. Pure logic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fairgv::redirect {

/// Whether this build can write jumps: x86-64 only.
#if defined(__x86_64__)
inline constexpr bool kCanJump = true;
#else
inline constexpr bool kCanJump = false;
#endif

struct Jump {
  std::size_t offset = 0;  // where it goes in the function: behind its endbr64, if it begins with one
  std::size_t size = 0;
  std::array<std::byte, 14> bytes{};

  std::span<const std::byte> code() const { return std::span(bytes).first(size); }
};

/// The jump at the beginning of a function that is loaded at `address` and has `code`: its own bytes, and the
/// padding behind it. It changes no register and no flag. An `endbr64` at the beginning stays, because an
/// indirect call must find it there (Intel CET). Nothing if the function is too short for any jump that
/// reaches the target.
std::optional<Jump> jump_to(std::uint64_t target, std::uint64_t address, std::span<const std::byte> code);

/// The length of the padding at the beginning of `code`: instructions that do nothing, and int3, as
/// assemblers and linkers put them between functions.
std::size_t padding_length(std::span<const std::byte> code);

}  // namespace fairgv::redirect
