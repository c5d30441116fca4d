#include "sched/policies/pegasus/coordinated.hpp"

#include <algorithm>

namespace fairgv::sched {

void CoordinatedPolicy::host(TenantId id, const HostState& state, Time now) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.host = state;
  found->second.told = now;
}

TenantBudget CoordinatedPolicy::budget(TenantId id, Time) const {
  TenantBudget budget;
  if (const auto found = members_.find(id); found != members_.end()) {
    budget.reserve = ReserveState{found->second.left, {}};
  }
  return budget;
}

void CoordinatedPolicy::restore(TenantId id, const TenantBudget& budget, Time) {
  const auto found = members_.find(id);
  if (found == members_.end() || !budget.reserve) return;
  std::uint32_t least = found->second.credits;
  for (const auto& [other, member] : members_) least = std::min(least, member.credits);
  const Duration most = slice() * static_cast<std::int64_t>(found->second.credits) / least;
  found->second.left = std::clamp(budget.reserve->left, -most, most);
}

void CoordinatedPolicy::described(TenantId id, const TenantAttributes& attributes) {
  members_[id].credits = attributes.weight;
}

void CoordinatedPolicy::forgotten(TenantId id) {
  members_.erase(id);
}

void CoordinatedPolicy::joined(TenantId, Time now) {
  refill_if_used_up(now);
}

void CoordinatedPolicy::left(TenantId id, Time now) {
  members_.at(id).ready_until = now;
  refill_if_used_up(now);
}

Duration CoordinatedPolicy::turn_length(TenantId, Time) const {
  return slice();
}

void CoordinatedPolicy::began(TenantId id, Duration length, Time now) {
  Member& member = members_.at(id);
  member.left -= length;
  member.served = ++serves_;
  refill_if_used_up(now);
}

void CoordinatedPolicy::refill_if_used_up(Time now) {
  const auto takes_part = [&](const auto& each) {
    return runnable(each.first) || now - each.second.ready_until <= kShortPause;
  };
  const bool only_scheduled =
      scheduled_only() && std::any_of(members_.begin(), members_.end(), [&](const auto& each) {
        return takes_part(each) && scheduled(each.second, now);
      });
  std::uint32_t least = UINT32_MAX;
  for (const auto& each : members_) {
    if (!takes_part(each)) continue;
    const bool candidate = !only_scheduled || scheduled(each.second, now);
    if (candidate && each.second.left > Duration(0)) return;
    least = std::min(least, each.second.credits);
  }
  for (auto& each : members_) {
    if (!takes_part(each)) continue;
    Member& member = each.second;
    const Duration round = slice() * static_cast<std::int64_t>(member.credits) / least;
    member.left = std::min(std::max(member.left, -round) + round, round);
  }
}

}  // namespace fairgv::sched
