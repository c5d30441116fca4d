#include "sched/policies/pegasus/ring.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {
namespace {

constexpr unsigned kFractionBits = 32;
constexpr std::uint64_t kFraction = (std::uint64_t{1} << kFractionBits) - 1;

}  // namespace

TenantBudget RingPolicy::budget(TenantId id, Time now) const {
  TenantBudget budget;
  if (const auto found = members_.find(id); found != members_.end()) {
    budget.reserve = ReserveState{rest_of_turn(id, now) + found->second.restored, {}};
  }
  return budget;
}

void RingPolicy::restore(TenantId id, const TenantBudget& budget, Time) {
  const auto found = members_.find(id);
  if (found == members_.end() || !budget.reserve) return;
  found->second.restored = std::max(budget.reserve->left, Duration(0));
}

std::uint64_t RingPolicy::ticks(TenantId id) const {
  const Member& member = members_.at(id);
  return (member.context_established ? exact_ticks(member) >> kFractionBits : 1) + extra_ticks(id);
}

void RingPolicy::described(TenantId id, const TenantAttributes& attributes) {
  const auto [found, added] = members_.try_emplace(id);
  Place& place = found->second.place;
  if (added) place.arrival = arrivals_++;
  place.credits = credits_of(attributes);
  place.id = id;
}

void RingPolicy::forgotten(TenantId id) {
  members_.erase(id);
}

void RingPolicy::joined(TenantId id, Time) {
  ready_.insert(members_.at(id).place);
}

void RingPolicy::left(TenantId id, Time) {
  ready_.erase(members_.at(id).place);
}

TenantId RingPolicy::pick(Time) const {
  const auto after = ready_.upper_bound(last_);
  return after == ready_.end() ? ready_.begin()->id : after->id;
}

Duration RingPolicy::turn_length(TenantId id) const {
  const Duration length = slice() * static_cast<std::int64_t>(ticks(id));
  return length + std::min(members_.at(id).restored, length);
}

void RingPolicy::began(TenantId id, Duration, Time) {
  Member& member = members_.at(id);
  last_ = member.place;
  member.restored = Duration(0);
  if (std::exchange(member.context_established, true)) member.carried = kFraction & exact_ticks(member);
}

/// Tm with what was carried over, in units of 2^-32 of a tick.
std::uint64_t RingPolicy::exact_ticks(const Member& member) const {
  const std::uint64_t credits = member.place.credits;
  const std::uint64_t least = ready_.empty() ? credits : ready_.rbegin()->credits;
  return std::max<std::uint64_t>((credits << kFractionBits) / least + member.carried, kFraction + 1);
}

}  // namespace fairgv::sched
