// How many sessions and connections the daemon has descriptors for. The others are its own: the
// log, the listening sockets, starting a worker, answering an administrator.
//
// Pure logic, but for the functions that ask the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "runtime/daemon/config/config.hpp"

namespace fairgv::daemon {

struct DescriptorPlan {
  // As many as anybody may want, until somebody counts.
  std::size_t sessions = std::numeric_limits<std::size_t>::max();
  std::size_t connections = kMostConnections;
};

/// Descriptors that so many sessions and all connections need.
std::uint64_t descriptors_for(std::size_t sessions);

/// How many there is room for within a limit of descriptors. If it is too low for so many sessions,
/// connections are fewer, too, and sessions get what they leave.
DescriptorPlan plan_descriptors(std::uint64_t limit, std::size_t sessions);

/// Raises this process' limit to what so many sessions need, as far as the system lets it. The plan is of the
/// limit that holds then.
DescriptorPlan claim_descriptors(std::size_t sessions);

}  // namespace fairgv::daemon
