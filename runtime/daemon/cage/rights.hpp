// A worker's rights as a process: user, capabilities, and limits of resources.
//
// For the child of a fork: only async-signal-safe calls. A failure ends the process (StartFailure).
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/daemon/cage/failure.hpp"
#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {

struct WorkerLimits {
  bool core_dumps = false;
  /// Bytes of private memory (RLIMIT_DATA): what code gets from malloc. Shared mappings are not counted.
  std::optional<std::uint64_t> memory;
  /// Open files; the system's own limit if that is lower.
  std::uint64_t files = 4'096;
};

/// Whether this process may mount: CAP_SYS_ADMIN is in force.
bool may_mount();

/// Capabilities can never come back, not even to root that starts a program. While still the daemon's user.
void close_capability_bounds(const StartFailure& failure);

void become(const User& user, const StartFailure& failure);

/// Root's processes keep their capabilities when they become root: none is left after this.
void drop_capabilities(const StartFailure& failure);

void limit_resources(const WorkerLimits& limits, const StartFailure& failure);

}  // namespace fairgv::daemon
