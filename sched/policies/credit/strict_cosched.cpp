#include "sched/policies/credit/strict_cosched.hpp"

#include <algorithm>

namespace fairgv::sched {

void StrictCoschedPolicy::add(TenantId id, const TenantAttributes& attributes, Time now) {
  CreditPolicy::add(id, attributes, now);
  played_.add(id, attributes.weight);
}

void StrictCoschedPolicy::remove(TenantId id, Time now) {
  CreditPolicy::remove(id, now);
  played_.remove(id);
  scheduled_.erase(id);
  if (holder_ == id) holder_.reset();
  if (accepted_ == id) accepted_.reset();
}

void StrictCoschedPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time now) {
  CreditPolicy::set_attributes(id, attributes, now);
  played_.set_weight(id, attributes.weight);
}

void StrictCoschedPolicy::wake(TenantId id, Time now) {
  CreditPolicy::wake(id, now);
  played_.wake(id);
  if (requests(id, now)) request(id, now);
}

void StrictCoschedPolicy::block(TenantId id, Time now) {
  CreditPolicy::block(id, now);
  played_.block(id, now);
  if (holder_ == id) holder_.reset();
  if (accepted_ == id) accepted_.reset();
}

void StrictCoschedPolicy::host(TenantId id, const HostState& state, Time now) {
  hosted_ = true;
  if (!state.scheduled) {
    scheduled_.erase(id);
    if (accepted_ == id) accepted_.reset();
    return;
  }
  scheduled_[id] = now;
  if (requests(id, now)) request(id, now);
}

Decision StrictCoschedPolicy::next(Time now) {
  if (!hosted_) return played_.next(slice(), now);
  if (accepted_ && runnable(*accepted_) && holder_ != accepted_) {
    return {Turn{*accepted_, slice(), TurnEnd::clock}, std::nullopt};
  }
  return CreditPolicy::next(now);
}

void StrictCoschedPolicy::begin(TenantId id, Time now) {
  CreditPolicy::begin(id, now);
  holder_ = id;
  if (accepted_ == id) accepted_.reset();
}

void StrictCoschedPolicy::end(TenantId id, Time now) {
  if (hosted_ && must_yield(id, now)) pay_whole_slice(id);
  CreditPolicy::end(id, now);
  if (holder_ == id) holder_.reset();
}

std::optional<Time> StrictCoschedPolicy::pause(TenantId id, Time now) {
  if (!hosted_) return played_.turn_ends(id, now);
  const auto until = keep(id, now);
  if (until) holder_ = id;
  return until;
}

std::optional<Time> StrictCoschedPolicy::preempts(TenantId newcomer, TenantId holder, Time now) const {
  if (hosted_ && accepted_ == newcomer && newcomer != holder) return now;
  return std::nullopt;
}

bool StrictCoschedPolicy::must_yield(TenantId holder, Time) {
  return hosted_ && accepted_ && *accepted_ != holder;
}

/// A processor of the host requests the device for the tenant.
bool StrictCoschedPolicy::requests(TenantId id, Time now) const {
  const auto found = scheduled_.find(id);
  return found != scheduled_.end() && now - found->second <= kRequest && runnable(id);
}

/// Algorithm 2.
void StrictCoschedPolicy::request(TenantId target, Time now) {
  if (target == holder_) return;  // it has the device
  const bool outdone = std::any_of(scheduled_.begin(), scheduled_.end(), [&](const auto& other) {
    return requests(other.first, now) && credit(other.first) > credit(target);
  });
  if (!outdone) accepted_ = target;
}

}  // namespace fairgv::sched
