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

void CoordinatedPolicy::joined(TenantId, Time) {
  refill_if_used_up();
}

void CoordinatedPolicy::left(TenantId, Time) {
  refill_if_used_up();
}

Duration CoordinatedPolicy::turn_length(TenantId) const {
  return slice();
}

void CoordinatedPolicy::began(TenantId id, Duration length, Time) {
  Member& member = members_.at(id);
  member.left -= length;
  member.served = ++serves_;
  refill_if_used_up();
}

void CoordinatedPolicy::refill_if_used_up() {
  std::uint32_t least = UINT32_MAX;
  for (const auto& [id, member] : members_) {
    if (!runnable(id)) continue;
    if (member.left > Duration(0)) return;
    least = std::min(least, member.credits);
  }
  for (auto& [id, member] : members_) {
    if (!runnable(id)) continue;
    const Duration round = slice() * static_cast<std::int64_t>(member.credits) / least;
    member.left = std::max(member.left, -round) + round;
  }
}

}  // namespace fairgv::sched
