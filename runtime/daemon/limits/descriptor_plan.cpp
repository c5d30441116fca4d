#include "runtime/daemon/limits/descriptor_plan.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace fairgv::daemon {
namespace {

/// Client, channel, ledger, knock, turns, segment, pidfd, the driver's messages, the control group, and the
/// kernels' output, of which one end is handed over.
constexpr std::uint64_t kOfASession = 11;
/// The daemon's own: sockets, signals, event loop, metrics and their clients, the usage store, and the
/// descriptors that a starting worker, and the second workers of moving sessions, need for a moment.
constexpr std::uint64_t kOwn = 96;
/// Of a low limit, connections get one in so many.
constexpr std::uint64_t kPartOfConnections = 8;
constexpr std::uint64_t kFewestConnections = 16;

}  // namespace

std::uint64_t descriptors_for(std::size_t sessions) {
  return kOwn + kMostConnections + sessions * kOfASession;
}

DescriptorPlan plan_descriptors(std::uint64_t limit, std::size_t sessions) {
  if (limit >= descriptors_for(sessions)) return {sessions, kMostConnections};
  const std::uint64_t connections =
      std::clamp<std::uint64_t>(limit / kPartOfConnections, kFewestConnections, kMostConnections);
  const std::uint64_t taken = std::min(limit, kOwn + connections);
  return {std::max<std::uint64_t>(1, (limit - taken) / kOfASession), connections};
}

DescriptorPlan claim_descriptors(std::size_t sessions) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const rlim_t wanted = descriptors_for(sessions);
  if (limit.rlim_cur < wanted) {
    rlimit raised = limit;
    raised.rlim_cur = std::min(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return plan_descriptors(limit.rlim_cur, sessions);
}

}  // namespace fairgv::daemon
