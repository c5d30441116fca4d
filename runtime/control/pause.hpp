// The user who has paused a session or a tenant.
#pragma once

#include <cstdint>
#include <optional>

namespace fairgv::control {

struct Pause {
  std::uint32_t by = 0;        // user
  bool administrator = false;  // then only administrators may end it

  bool operator==(const Pause&) const = default;
};

/// The pause that holds after something paused is paused again: an administrator's pause stays.
inline Pause stronger(const std::optional<Pause>& before, const Pause& again) {
  return before && (before->administrator || !again.administrator) ? *before : again;
}

}  // namespace fairgv::control
