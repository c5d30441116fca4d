// The kernel's facts about the process that connected a socket, beyond its user and groups.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/daemon/tenants/peers/matching.hpp"

namespace fairgv::daemon {

/// A descriptor of the process (a pidfd). An Error if it has ended, or is outside of the daemon's view of
/// processes. Before Linux 6.5 the same doubt as below.
Result<UniqueFd> open_peer(int socket, const PeerCredentials& peer);

/// The path of its control group (version 2). Never that of another process which has got the same number
/// since: an Error if it has ended, or is outside of the daemon's view of processes.
///
/// Linux 6.5 tells which process connected (SO_PEERPIDFD). On older systems, a process that ends between
/// connecting and being accepted cannot be told from a process of the same user that gets its number in that
/// time.
Result<std::string> control_group_of(int socket, const PeerCredentials& peer);

/// Everything that [[match]] rules look at; the control group only if it is `wanted`. `owner`: for whom its
/// user id counts (owners.hpp).
Person person_behind(int socket, const PeerCredentials& peer, uid_t owner, bool cgroup_wanted);

/// The path in a /proc/PID/cgroup of this text.
Result<std::string> parse_control_group(std::string_view text);

}  // namespace fairgv::daemon
