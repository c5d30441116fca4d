#include "sched/policies/fair.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {

void FairPolicy::add(TenantId id, const TenantAttributes& attributes, Time) {
  queue_.add(id, attributes.weight);
  pauses_.try_emplace(id);
}

void FairPolicy::remove(TenantId id, Time) {
  queue_.remove(id);
  pauses_.erase(id);
}

void FairPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time) {
  queue_.set_weight(id, attributes.weight);
}

void FairPolicy::wake(TenantId id, Time now) {
  const auto found = pauses_.find(id);
  if (found == pauses_.end()) return;
  Pauses& pauses = found->second;
  queue_.wake(id, credit(pauses, now), has_lead(pauses) ? lead() : Duration(0));
  if (!pauses.paused) return;
  if (std::exchange(pauses.keeping, false)) {
    queue_.charge(id, now - *pauses.paused);
    pauses.stakes.paid();
  }
  const Duration pause = std::min<Duration>(now - *pauses.paused, 2 * kLongestAnticipation);
  // A short pause counts even if the device was not kept, so that the device is kept again for a tenant that
  // begins to come back quickly.
  if (pause <= kLongestAnticipation) pauses.probes.paid();
  if (pauses.kept || pause <= kLongestAnticipation) pauses.usual = (3 * pauses.usual + pause) / 4;
  pauses.paused.reset();
}

void FairPolicy::block(TenantId id, Time now) {
  queue_.block(id);
  const auto found = pauses_.find(id);
  if (found == pauses_.end()) return;
  found->second.blocked = now;
  found->second.keeping = false;
}

void FairPolicy::charge(TenantId id, Duration used, Time) {
  queue_.charge(id, used);
  if (const auto found = pauses_.find(id); found != pauses_.end()) found->second.last_turn += used;
}

void FairPolicy::rest(Duration free, Time) {
  queue_.rest(free);
}

bool FairPolicy::may_forget(TenantId id) const {
  return !queue_.contains(id) || queue_.start_tag(id) <= queue_.virtual_time();
}

Decision FairPolicy::next(Time) {
  const auto tenant = queue_.pick();
  if (!tenant) return {};
  return {Turn{*tenant, slice(), TurnEnd::measured}, std::nullopt};
}

void FairPolicy::begin(TenantId id, Time now) {
  turn_began_ = now;
  queue_.spend_lead(id);
  if (const auto found = pauses_.find(id); found != pauses_.end()) found->second.last_turn = Duration(0);
}

std::optional<Time> FairPolicy::pause(TenantId id, Time now) {
  const auto found = pauses_.find(id);
  if (found == pauses_.end()) return std::nullopt;
  Pauses& pauses = found->second;
  pauses.paused = now;
  pauses.kept = false;
  const bool others_wait = queue_.runnable_count() > 1;
  if (!others_wait || queue_.pick() != id) return std::nullopt;
  const bool back_soon = 2 * pauses.usual <= kLongestAnticipation;
  pauses.kept = back_soon || pauses.probes.due();
  if (!back_soon) pauses.probes.failed();  // until it comes back
  const Duration usual = pauses.kept ? kLongestAnticipation : Duration(0);
  const Duration keep = std::max(usual, keep_for_stake(id, pauses));
  pauses.keeping = keep > Duration(0);
  if (!pauses.keeping) return std::nullopt;
  return now + keep;
}

/// The loss of the first tenant if it were blocked now, beyond its credit: virtual time would become the tag
/// of the tenant after it, whose last turn was far longer than a slice.
Duration FairPolicy::stake(TenantId id) const {
  const auto second = queue_.second();
  if (!second) return Duration(0);
  const double owed = (queue_.start_tag(*second) - queue_.start_tag(id)) * queue_.weight(id);
  const auto held = static_cast<double>(pauses_.at(*second).last_turn.count());
  return Duration(static_cast<Duration::rep>(std::min(owed, held))) - slice() - lead();
}

Duration FairPolicy::keep_for_stake(TenantId id, Pauses& pauses) {
  const Duration keep = std::min<Duration>(stake(id) / kStakeFraction, kLongestForStake);
  if (keep <= kLongestAnticipation) return Duration(0);
  const bool worthwhile = !pauses.stakes.hopeless() || pauses.stakes.due();
  pauses.stakes.failed();  // until it comes back
  return worthwhile ? keep : Duration(0);
}

std::optional<Time> FairPolicy::preempts(TenantId newcomer, TenantId holder, Time now) const {
  const auto held = pauses_.find(holder);
  const auto came = pauses_.find(newcomer);
  if (held == pauses_.end() || came == pauses_.end() || queue_.pick() != newcomer) return std::nullopt;
  if (held->second.paused) return now;
  if (newcomer == holder || !has_lead(came->second)) return std::nullopt;
  return turn_began_ + slice() / kUndisturbedFraction;
}

Duration FairPolicy::credit(const Pauses& pauses, Time now) const {
  // The most that the others can be ahead of it: a turn of theirs and a lead.
  return now - pauses.blocked <= slice() ? slice() + lead() : Duration(0);
}

}  // namespace fairgv::sched
