#include "cuda-shim/redirect/jump.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fairgv::redirect {
namespace {

constexpr std::array kEndbr64{std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e}, std::byte{0xfa}};

// jmp rel32 (Intel SDM, JMP, E9): a signed distance from the instruction's end.
constexpr std::size_t kNearSize = 5;
// jmp [rip+0] (FF /4), and the address of the target behind it.
constexpr std::size_t kFarSize = 14;

Jump near_jump(std::int32_t distance) {
  Jump jump;
  jump.size = kNearSize;
  jump.bytes[0] = std::byte{0xe9};
  std::memcpy(&jump.bytes[1], &distance, sizeof distance);
  return jump;
}

Jump far_jump(std::uint64_t target) {
  Jump jump;
  jump.size = kFarSize;
  jump.bytes[0] = std::byte{0xff};
  jump.bytes[1] = std::byte{0x25};
  std::memcpy(&jump.bytes[6], &target, sizeof target);
  return jump;
}

/// The length of a NOP at the beginning of `code` (Intel SDM, NOP: 90, or 0F 1F /0 with any operand, behind
/// any number of prefixes), or of an int3; 0 if there is neither.
std::size_t nop_length(std::span<const std::byte> code) {
  const auto at = [&](std::size_t i) {
    return i < code.size() ? std::to_integer<unsigned>(code[i]) : 0x100U;
  };
  if (at(0) == 0xcc) return 1;
  std::size_t i = 0;
  while (at(i) == 0x66 || at(i) == 0x2e) ++i;
  if (at(i) == 0x90) return i + 1;
  if (at(i) != 0x0f || at(i + 1) != 0x1f || (at(i + 2) & 0x38U) != 0 || at(i + 2) > 0xff) return 0;
  const unsigned mode = at(i + 2) >> 6U;
  const unsigned base = at(i + 2) & 7U;
  std::size_t length = i + 3;
  if (mode != 3 && base == 4) ++length;                    // SIB
  if (mode == 1) length += 1;                              // disp8
  if (mode == 2 || (mode == 0 && base == 5)) length += 4;  // disp32
  return length <= code.size() ? length : 0;
}

}  // namespace

std::optional<Jump> jump_to(std::uint64_t target, std::uint64_t address, std::span<const std::byte> code) {
  if (!kCanJump) return std::nullopt;
  const bool begins_with_endbr64 =
      code.size() >= kEndbr64.size() && std::equal(kEndbr64.begin(), kEndbr64.end(), code.begin());
  const std::size_t offset = begins_with_endbr64 ? kEndbr64.size() : 0;
  const std::size_t room = code.size() - offset;
  Jump jump;
  if (room >= kFarSize) {
    jump = far_jump(target);
  } else {
    const auto distance = static_cast<std::int64_t>(target - (address + offset + kNearSize));
    if (room < kNearSize || distance < std::numeric_limits<std::int32_t>::min() ||
        distance > std::numeric_limits<std::int32_t>::max()) {
      return std::nullopt;
    }
    jump = near_jump(static_cast<std::int32_t>(distance));
  }
  jump.offset = offset;
  return jump;
}

std::size_t padding_length(std::span<const std::byte> code) {
  std::size_t length = 0;
  for (std::size_t next = 1; next > 0; length += next) next = nop_length(code.subspan(length));
  return length;
}

}  // namespace fairgv::redirect
