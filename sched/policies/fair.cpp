#include "sched/policies/fair.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {

// -- tenants

void FairPolicy::add(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  if (members_.contains(id)) refuse_known_tenant(id);
  Member& member = members_[id];
  classify(member, attributes.service);
  queue_of(member.service).add(id, attributes.weight);
  promise(id, member, attributes, now);
}

void FairPolicy::remove(TenantId id, Time now) {
  const Member* const member = find(id);
  if (member == nullptr) return;
  dequeue(id, *member, now);
  queue_of(member->service).remove(id);
  if (promises_) promises_->remove(id);
  for (Holding* const held : {&holding_, aside_ ? &*aside_ : nullptr}) {
    if (held != nullptr && held->tenant == id) *held = {};
  }
  classified_ -= member->service != ServiceClass::normal ? 1 : 0;
  last_found_ = nullptr;
  members_.erase(id);
  latest_ = now;
}

void FairPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  Member* const found = find(id);
  if (found == nullptr) return;
  Member& member = *found;
  latest_ = now;
  if (&queue_of(member.service) == &queue_of(attributes.service)) {
    queue_of(member.service).set_weight(id, attributes.weight);
    classify(member, attributes.service);
  } else {
    const Duration ahead = queue_of(member.service).ahead(id);
    dequeue(id, member, now);
    queue_of(member.service).remove(id);
    classify(member, attributes.service);
    queue_of(member.service).add(id, attributes.weight);
    queue_of(member.service).set_ahead(id, ahead);
    if (member.wants) enqueue(id, member, now);
  }
  promise(id, member, attributes, now);
  if (holding_.tenant == id) queue_of(member.service).spend_lead(id);  // it has its turn
}

void FairPolicy::wake(TenantId id, Time now) {
  Member* const found = find(id);
  if (found == nullptr) return;
  Member& member = *found;
  latest_ = now;
  if (member.service == ServiceClass::latency) note_latency(member, now);
  if (!std::exchange(member.wants, true)) {
    const bool short_pause = restoring_ || now - member.blocked <= slice();
    if (!promises_ || promises_->wake(id, now, short_pause)) enqueue(id, member, now);
  }
  if (!member.paused) return;
  if (std::exchange(member.keeping, false)) {
    queue_of(member.service).charge(id, now - *member.paused);
    member.stakes.paid();
  }
  const Duration pause = std::min<Duration>(now - *member.paused, 2 * kLongestAnticipation);
  // A short pause counts even if the device was not kept, so that the device is kept again for a tenant that
  // begins to come back quickly.
  if (pause <= kLongestAnticipation) member.probes.paid();
  if (member.kept || pause <= kLongestAnticipation) member.usual = (3 * member.usual + pause) / 4;
  member.paused.reset();
}

void FairPolicy::block(TenantId id, Time now) {
  Member* const found = find(id);
  if (found == nullptr) return;
  Member& member = *found;
  dequeue(id, member, now);
  if (promises_) promises_->block(id);
  member.wants = member.keeping = false;
  member.blocked = latest_ = now;
}

void FairPolicy::charge(TenantId id, Duration used, Time now) {
  Member* const found = find(id);
  if (found == nullptr) return;
  found->last_turn += used;
  latest_ = now;
  if (promises_ && charge_promises(id, used, now)) return;
  queue_of(found->service).charge(id, used);
}

void FairPolicy::rest(Duration free, Time) {
  restoring_ = false;
  queue_.rest(free);
  batch_.rest(free);
}

bool FairPolicy::may_forget(TenantId id) const {
  const Member* const found = find(id);
  if (found == nullptr) return true;
  if (promises_ && !promises_->may_forget(id, latest_)) return false;
  return queue_of(found->service).ahead(id) == Duration(0);
}

double FairPolicy::position(TenantId id) const {
  const Member* const member = find(id);
  if (member == nullptr) return std::numeric_limits<double>::infinity();
  // Batch tenants come after all others.
  const double behind = member->service == ServiceClass::batch ? std::numeric_limits<double>::max() / 2 : 0;
  return behind + queue_of(member->service).start_tag(id);
}

// -- turns

Decision FairPolicy::next(Time now) {
  if (!plain()) return next_by_promises(now);
  const auto tenant = queue_.pick();
  if (!tenant) return {};
  return {Turn{.tenant = *tenant, .slice = slice(), .switch_in = true}, std::nullopt};
}

void FairPolicy::begin(TenantId id, Time now) {
  holding_.began = holding_.undisturbed = latest_ = now;
  holding_.tenant = id;
  restoring_ = false;
  Member* const found = find(id);
  if (!plain() || queue_.runnable_count() <= 1) begin_choice(id, found, now);
  if (found == nullptr) return;
  queue_of(found->service).spend_lead(id);
  found->last_turn = Duration(0);
}

void FairPolicy::end(TenantId id, Time now) {
  if (aside_ && aside_->tenant == id) aside_.reset();
  if (holding_.tenant != id) return;
  holding_.tenant.reset();
  if (promises_) end_promises(id, now);
}

std::optional<Time> FairPolicy::pause(TenantId id, Time now) {
  Member* const found = find(id);
  if (found == nullptr) return std::nullopt;
  Member& member = *found;
  const FairQueue& queue = queue_of(member.service);
  member.paused = now;
  member.kept = false;
  const bool others_wait = runnable() > 1;
  if (!others_wait || !is_next(id, now)) return std::nullopt;
  const bool back_soon = 2 * member.usual <= kLongestAnticipation;
  member.kept = back_soon || member.probes.due();
  if (!back_soon) member.probes.failed();  // until it comes back
  const Duration usual = member.kept ? kLongestAnticipation : Duration(0);
  // A latency tenant is served at once when it comes back, and must not pay for the device meanwhile.
  const bool has_stake = member.service != ServiceClass::latency;
  const Duration keep = has_stake ? std::max(usual, keep_for_stake(id, queue, member)) : usual;
  member.keeping = keep > Duration(0);
  if (!member.keeping) return std::nullopt;
  const auto due = promises_ ? promises_->next_due() : std::nullopt;
  return due ? std::min(now + keep, std::max(*due, now)) : now + keep;
}

/// The loss of the first tenant if it were blocked now, beyond its credit: virtual time would become the tag
/// of the tenant after it, whose last turn was far longer than a slice.
Duration FairPolicy::stake(TenantId id, const FairQueue& queue) const {
  const auto second = queue.second();
  if (!second) return Duration(0);
  const double owed = (queue.start_tag(*second) - queue.start_tag(id)) * queue.weight(id);
  const auto held = static_cast<double>(members_.at(*second).last_turn.count());
  return Duration(static_cast<Duration::rep>(std::min(owed, held))) - slice() - lead();
}

Duration FairPolicy::keep_for_stake(TenantId id, const FairQueue& queue, Pauses& pauses) {
  const Duration keep = std::min<Duration>(stake(id, queue) / kStakeFraction, kLongestForStake);
  if (keep <= kLongestAnticipation) return Duration(0);
  const bool worthwhile = !pauses.stakes.hopeless() || pauses.stakes.due();
  pauses.stakes.failed();  // until it comes back
  return worthwhile ? keep : Duration(0);
}

std::optional<Time> FairPolicy::preempts(TenantId newcomer, TenantId holder, Time now) const {
  const auto held = members_.find(holder);
  const auto came = members_.find(newcomer);
  if (held == members_.end() || came == members_.end() || !is_next(newcomer, now)) return std::nullopt;
  if (held->second.paused) return now;
  if (newcomer == holder) return std::nullopt;
  const bool by_latency = queue_.first() == newcomer;
  if (by_latency && held->second.service != ServiceClass::latency) return now;
  const bool from_batch = held->second.service == ServiceClass::batch && !holding_.serves;
  if (from_batch && came->second.service != ServiceClass::batch) return now;
  if (!has_lead(came->second)) return std::nullopt;
  return holding_.began + slice() / kUndisturbedFraction;
}

std::optional<Duration> FairPolicy::interrupts(TenantId newcomer, TenantId holder, Time now) const {
  const Member* const held = find(holder);
  const Member* const came = find(newcomer);
  if (held == nullptr || came == nullptr || newcomer == holder || !is_next(newcomer, now))
    return std::nullopt;
  const bool by_latency = queue_.first() == newcomer && held->service != ServiceClass::latency;
  if (by_latency) return slice();
  if (!has_lead(*came) || now - holding_.undisturbed < kLeastUndisturbed) return std::nullopt;
  return lead();
}

void FairPolicy::interrupted(TenantId holder, Time now) {
  if (holding_.tenant != holder) return;
  aside_ = std::exchange(holding_, {});
  aside_->undisturbed = latest_ = now;
}

void FairPolicy::resumed(TenantId holder, Time now) {
  if (!aside_ || aside_->tenant != holder) return begin(holder, now);
  const Duration pause = now - aside_->undisturbed;
  holding_ = *std::exchange(aside_, std::nullopt);
  holding_.began += pause;
  holding_.undisturbed = latest_ = now;
  if (const Member* const member = find(holder)) note_alone(holder, *member, now);
}

std::optional<Time> FairPolicy::review_at(TenantId holder, Time now) const {
  return !holding_.yield_asked && lacks_end(holder) ? std::optional(now) : std::nullopt;
}

bool FairPolicy::must_yield(TenantId holder, Time) {
  if (!lacks_end(holder)) return false;
  holding_.yield_asked = true;  // no need to look again
  return true;
}

// -- inside

/// The turn was granted without an end, by this policy or another one, and its tenant has a ceiling by now.
bool FairPolicy::lacks_end(TenantId holder) const {
  return promises_ && holding_.tenant == holder && !holding_.bounded && promises_->has_ceiling(holder);
}

const FairPolicy::Member* FairPolicy::look_up(TenantId id) const {
  const auto found = members_.find(id);
  if (found == members_.end()) return nullptr;
  last_ = id;
  return last_found_ = &found->second;
}

void FairPolicy::classify(Member& member, ServiceClass service) {
  classified_ -= member.service != ServiceClass::normal ? 1 : 0;
  classified_ += service != ServiceClass::normal ? 1 : 0;
  member.service = service;
}

void FairPolicy::enqueue(TenantId id, Member& member, Time now) {
  FairQueue& queue = queue_of(member.service);
  if (alone_since_) settle_alone(now);
  if (member.service == ServiceClass::latency) {
    queue.wake_first(id, credit(member, now), slice());
  } else {
    queue.wake(id, credit(member, now), has_lead(member) ? lead() : Duration(0));
  }
  if (runnable() > 1) alone_since_.reset();
  if (promises_) update_floor(now);
}

void FairPolicy::dequeue(TenantId id, const Member& member, Time now) {
  if (alone_since_) settle_alone(now);
  queue_of(member.service).block(id);
  if (runnable() != 1) alone_since_.reset();
  if (promises_) update_floor(now);
}

/// Finds out what the turn that begins is for.
void FairPolicy::begin_choice(TenantId id, const Member* member, Time now) {
  const auto choice = choose(now);
  holding_.serves = choice && choice->tenant == id ? choice->serves : std::nullopt;
  holding_.bounded = std::exchange(bounded_, std::nullopt) == id;
  holding_.yield_asked = false;
  if (member != nullptr) note_alone(id, *member, now);
}

std::optional<FairPolicy::Choice> FairPolicy::choose(Time now) const {
  if (const auto first = queue_.first()) return Choice{*first};
  if (promises_ && runnable() > 1) {
    if (const auto due = promises_->due(now)) return Choice{due->tenant ? *due->tenant : *batch_.pick(), due};
  }
  const auto pick = queue_.runnable_count() > 0 ? queue_.pick() : batch_.pick();
  return pick ? std::optional(Choice{*pick}) : std::nullopt;
}

bool FairPolicy::is_next(TenantId id, Time now) const {
  if (plain()) return queue_.pick() == id;
  const auto choice = choose(now);
  return choice && choice->tenant == id;
}

/// The most device time in flight in a turn that others may want to have soon; 0: as much as the worker
/// likes.
Duration FairPolicy::in_flight(Time now) const {
  if (possible() || !latency_about(now)) return Duration(0);
  return std::max(kLeastInFlight, least_response_ / kInFlightPart);
}

bool FairPolicy::latency_about(Time now) const {
  return latency_woke_ && now - *latency_woke_ <= kLatencyMemory;
}

void FairPolicy::note_latency(const Member& member, Time now) {
  least_response_ = latency_about(now) ? std::min(least_response_, member.response) : member.response;
  latency_woke_ = now;
}

Duration FairPolicy::credit(const Pauses& pauses, Time now) const {
  if (restoring_) return Duration::max();  // it goes on from its tag
  // The most that the others can be ahead of it: a turn of theirs and a lead.
  return now - pauses.blocked <= slice() ? slice() + lead() : Duration(0);
}

}  // namespace fairgv::sched
