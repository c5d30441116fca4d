// The state of one tenant's promises: what a policy hands to its successor, so that a restart of the daemon
// and a change of policy refill nothing and lose nothing.
//
// All moments are of the monotonic clock, which a restart of the daemon does not change. A policy fills in
// what it keeps and takes over what it knows; the caller keeps the rest for a later policy.
#pragma once

#include <optional>
#include <vector>

#include "sched/time.hpp"

namespace fairgv::sched {

/// Device time that was used between two moments.
struct UsedInterval {
  Time from;
  Time to;
  Duration used{0};

  friend bool operator==(const UsedInterval&, const UsedInterval&) = default;
};

/// A reserve's budget, which may be negative after an overrun, and when it is replenished next.
struct ReserveState {
  Duration left{0};
  Time replenished{};

  friend bool operator==(const ReserveState&, const ReserveState&) = default;
};

struct TenantBudget {
  /// Device time that the tenant has used beyond its share by weight, compared with the tenant that has used
  /// least; negative: it is owed time.
  std::optional<Duration> ahead{};
  /// The guarantee has been served up to this moment.
  std::optional<Time> guaranteed_until{};
  /// Use of the last second, for the ceiling; the oldest first. And the moment up to which the ceiling's pace
  /// (sched/promises/ceiling.hpp) is used.
  std::vector<UsedInterval> last_second{};
  std::optional<Time> paced_until{};
  /// Of a policy with reserves or credits.
  std::optional<ReserveState> reserve{};

  bool empty() const { return *this == TenantBudget{}; }
  /// Takes what a later look at a policy has found; the rest stays for a policy that knows it.
  void update(const TenantBudget& later) {
    if (later.ahead) ahead = later.ahead;
    if (later.guaranteed_until) guaranteed_until = later.guaranteed_until;
    if (later.paced_until) paced_until = later.paced_until;
    if (later.paced_until || !later.last_second.empty()) last_second = later.last_second;
    if (later.reserve) reserve = later.reserve;
  }
  friend bool operator==(const TenantBudget&, const TenantBudget&) = default;
};

}  // namespace fairgv::sched
