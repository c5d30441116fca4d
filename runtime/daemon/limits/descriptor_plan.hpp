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
  // Unbounded until the descriptors are counted.
  std::size_t sessions = std::numeric_limits<std::size_t>::max();
  std::size_t connections = kMostConnections;
};

/// Descriptors that so many sessions and all connections need.
std::uint64_t descriptors_for(std::size_t sessions);

/// The sessions and connections that have room within a limit of descriptors. If it is too low for so many
/// sessions, connections are fewer, too, and sessions get the rest.
DescriptorPlan plan_descriptors(std::uint64_t limit, std::size_t sessions);

/// Raises this process' limit to the needs of so many sessions, as far as the system lets it. The plan is for
/// the limit that holds then.
DescriptorPlan claim_descriptors(std::size_t sessions);

}  // namespace fairgv::daemon
