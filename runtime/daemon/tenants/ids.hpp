// The daemon's names for what it manages.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "sched/types.hpp"

namespace fairgv::daemon {

using sched::TenantId;

/// One client process and its worker. Numbered from 1 and never used again.
struct SessionId {
  std::uint32_t value = 0;
  friend auto operator<=>(const SessionId&, const SessionId&) = default;
};

/// A session's place at a dispatcher, for one of the host's devices: places want and have turns. Devices that
/// are the same hardware have one dispatcher, at which a session has a place for each of them.
struct PlaceId {
  SessionId session;
  std::uint32_t device = 0;

  PlaceId() = default;
  /// The session's only place, where the device does not matter.
  PlaceId(SessionId id) : session(id) {}
  PlaceId(SessionId id, std::uint32_t of_device) : session(id), device(of_device) {}
  friend auto operator<=>(const PlaceId&, const PlaceId&) = default;
};

}  // namespace fairgv::daemon

template <>
struct std::hash<fairgv::daemon::SessionId> {
  std::size_t operator()(fairgv::daemon::SessionId id) const noexcept { return id.value; }
};

template <>
struct std::hash<fairgv::daemon::PlaceId> {
  std::size_t operator()(fairgv::daemon::PlaceId id) const noexcept {
    return (std::size_t{id.device} << 32U) ^ id.session.value;
  }
};
