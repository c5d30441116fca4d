#include "sched/policies/pegasus/ring.hpp"

#include <algorithm>
#include <iterator>
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

std::uint64_t RingPolicy::ticks(TenantId id, Time now) const {
  const Member& member = members_.at(id);
  return (member.context_established ? exact_ticks(member, now) >> kFractionBits : 1) + extra_ticks(id);
}

void RingPolicy::described(TenantId id, const TenantAttributes& attributes) {
  const auto [found, added] = members_.try_emplace(id);
  Place& place = found->second.place;
  if (added) {
    place.arrival = arrivals_++;
  } else {
    rivals_.erase(place);
  }
  place.credits = credits_of(attributes);
  place.id = id;
}

void RingPolicy::forgotten(TenantId id) {
  rivals_.erase(members_.at(id).place);
  members_.erase(id);
}

void RingPolicy::joined(TenantId id, Time) {
  ready_.insert(members_.at(id).place);
  rivals_.insert(members_.at(id).place);
}

void RingPolicy::left(TenantId id, Time now) {
  ready_.erase(members_.at(id).place);
  members_.at(id).ready_until = now;
}

TenantId RingPolicy::pick(Time) const {
  const auto after = ready_.upper_bound(last_);
  return after == ready_.end() ? ready_.begin()->id : after->id;
}

Duration RingPolicy::turn_length(TenantId id, Time now) const {
  const Duration length = slice() * static_cast<std::int64_t>(ticks(id, now));
  return length + std::min(members_.at(id).restored, length);
}

void RingPolicy::began(TenantId id, Duration, Time now) {
  Member& member = members_.at(id);
  last_ = member.place;
  while (!rivals_.empty() && !rival(*rivals_.rbegin(), now)) rivals_.erase(std::prev(rivals_.end()));
  member.restored = Duration(0);
  if (std::exchange(member.context_established, true)) member.carried = kFraction & exact_ticks(member, now);
}

bool RingPolicy::rival(const Place& place, Time now) const {
  return ready_.contains(place) || now - members_.at(place.id).ready_until <= kShortPause;
}

/// Tm with what was carried over, in units of 2^-32 of a tick.
std::uint64_t RingPolicy::exact_ticks(const Member& member, Time now) const {
  const std::uint64_t credits = member.place.credits;
  const auto last =
      std::find_if(rivals_.rbegin(), rivals_.rend(), [&](const Place& place) { return rival(place, now); });
  const std::uint64_t least = last == rivals_.rend() ? credits : last->credits;
  return std::max<std::uint64_t>((credits << kFractionBits) / least + member.carried, kFraction + 1);
}

}  // namespace fairgv::sched
