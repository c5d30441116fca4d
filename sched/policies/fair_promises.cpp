// `fair`: promises beyond the weights.
#include <algorithm>
#include <utility>

#include "sched/policies/fair.hpp"

namespace fairgv::sched {

TenantBudget FairPolicy::budget(TenantId id, Time now) const {
  TenantBudget budget;
  const Member* const found = find(id);
  if (found == nullptr) return budget;
  budget.ahead = queue_of(found->service).ahead(id);
  if (!promises_) return budget;
  promises_->save(id, budget);
  const bool sleeps = !found->wants && now - found->blocked > slice();
  if (budget.guaranteed_until && sleeps) budget.guaranteed_until = std::max(*budget.guaranteed_until, now);
  // The floor is its class's guarantee.
  const bool by_floor = found->service == ServiceClass::batch && !budget.guaranteed_until;
  if (by_floor) budget.guaranteed_until = promises_->floor_until();
  return budget;
}

void FairPolicy::restore(TenantId id, const TenantBudget& budget, Time now) {
  Member* const found = find(id);
  if (found == nullptr) return;
  restoring_ = true;
  found->blocked = now;
  if (budget.ahead) queue_of(found->service).set_ahead(id, *budget.ahead);
  if (!promises_) return;
  promises_->restore(id, budget);
  const bool by_floor = found->service == ServiceClass::batch && budget.guaranteed_until;
  if (by_floor && !promises_->has_guarantee(id)) promises_->restore_floor(*budget.guaranteed_until);
}

Decision FairPolicy::next_by_promises(Time now) {
  bounded_.reset();
  if (promises_) {
    while (const auto released = promises_->take_released(now)) enqueue(*released, *find(*released), now);
  }
  while (const auto choice = choose(now)) {
    const TenantId id = choice->tenant;
    const Member& member = *find(id);
    Turn turn{.tenant = id, .slice = slice(), .switch_in = true};
    if (member.service != ServiceClass::latency) turn.in_flight = in_flight(now);
    if (choice->serves) turn.slice = std::min(turn.slice, choice->serves->quantum);
    turn.promised = choice->serves && choice->serves->tenant;
    if (promises_) {
      if (promises_->hold_back(id, now)) {
        dequeue(id, member, now);
        continue;
      }
      if (const auto left = promises_->left(id, now)) {
        turn.slice = std::min(turn.slice, *left);
        turn.bounded = true;
        bounded_ = id;
      }
    }
    return {turn, std::nullopt};
  }
  return {std::nullopt, promises_ ? promises_->next_release() : std::nullopt};
}

void FairPolicy::promise(TenantId id, Member& member, const TenantAttributes& attributes, Time now) {
  member.response = attributes.response;
  if (!promises_ && !Promises::any(attributes) && attributes.service != ServiceClass::batch) return;
  if (!promises_) promises_ = std::make_unique<Promises>();
  promises_->set(id, attributes, now);
  if (!member.wants) return;
  if (promises_->wake(id, now, false)) {
    enqueue(id, member, now);
  } else {
    dequeue(id, member, now);
  }
}

/// Whether the time is not the tenant's by weight.
bool FairPolicy::charge_promises(TenantId id, Duration used, Time now) {
  promises_->used(id, used, now);
  if (!holding_.serves || holding_.tenant != id) return false;
  promises_->serve(*holding_.serves, used);
  return holding_.serves->tenant.has_value();  // the floor's time is shared by tags
}

void FairPolicy::end_promises(TenantId id, Time now) {
  holding_.serves.reset();
  if (promises_->hold_back(id, now)) dequeue(id, *find(id), now);
}

/// Finds out whether the tenant whose turn begins, or its class, has the device to itself. Whatever ends that
/// calls enqueue() or dequeue().
void FairPolicy::note_alone(TenantId id, const Member& member, Time now) {
  const bool alone = runnable() == 1 && queue_of(member.service).runnable(id);
  if (alone && !alone_since_) alone_since_ = now;
  const bool by_batch = member.service == ServiceClass::batch && queue_.runnable_count() == 0;
  if (by_batch && !batch_alone_since_) batch_alone_since_ = now;
}

void FairPolicy::settle_alone(Time now) {
  const Duration passed = now - std::exchange(*alone_since_, now);
  if (!promises_) return;
  const auto tenant = queue_.pick();
  promises_->had_alone(tenant ? *tenant : *batch_.pick(), passed, now);
}

void FairPolicy::update_floor(Time now) {
  const bool others_want = queue_.runnable_count() > 0;
  const bool batch_wants = batch_.runnable_count() > 0;
  promises_->batch_wants(others_want && batch_wants, now);
  if (!batch_alone_since_ || (batch_wants && !others_want)) return;
  promises_->batch_had_alone(now - *batch_alone_since_, now);
  batch_alone_since_.reset();
}

}  // namespace fairgv::sched
