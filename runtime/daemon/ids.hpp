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

}  // namespace fairgv::daemon

template <>
struct std::hash<fairgv::daemon::SessionId> {
  std::size_t operator()(fairgv::daemon::SessionId id) const noexcept { return id.value; }
};
