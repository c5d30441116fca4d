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
  requests_.erase(id);
}

void StrictCoschedPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time now) {
  CreditPolicy::set_attributes(id, attributes, now);
  played_.set_weight(id, attributes.weight);
}

void StrictCoschedPolicy::wake(TenantId id, Time now) {
  CreditPolicy::wake(id, now);
  played_.wake(id);
  if (wanted_by_host(id, now)) requests_.insert(id);
}

void StrictCoschedPolicy::block(TenantId id, Time now) {
  CreditPolicy::block(id, now);
  played_.block(id, now);
  requests_.erase(id);
}

void StrictCoschedPolicy::host(TenantId id, const HostState& state, Time now) {
  hosted_ = true;
  if (!state.scheduled) {
    scheduled_.erase(id);
    requests_.erase(id);
    return;
  }
  scheduled_[id] = now;
  if (wanted_by_host(id, now)) requests_.insert(id);
}

Decision StrictCoschedPolicy::next(Time now) {
  if (!hosted_) return played_.next(slice(), now);
  const auto target = accepted(now);
  if (target && !kept_for(*target, now)) return {Turn{*target, slice(), TurnEnd::clock}, std::nullopt};
  return CreditPolicy::next(now);
}

void StrictCoschedPolicy::begin(TenantId id, Time now) {
  CreditPolicy::begin(id, now);
  requests_.clear();
}

void StrictCoschedPolicy::end(TenantId id, Time now) {
  if (hosted_ && accepted(now).value_or(id) != id) pay_whole_slice(id);
  CreditPolicy::end(id, now);
}

std::optional<Time> StrictCoschedPolicy::pause(TenantId id, Time now) {
  if (!hosted_) return played_.turn_ends(id, now);
  return on_processor(id, now) ? keep(id, now) : std::nullopt;
}

std::optional<Time> StrictCoschedPolicy::preempts(TenantId newcomer, TenantId holder, Time now) const {
  if (hosted_ && newcomer != holder && accepted(now) == newcomer) return now;
  return std::nullopt;
}

/// Requests that are not accepted now are lost: the holder continues.
bool StrictCoschedPolicy::must_yield(TenantId holder, Time now) {
  const auto target = hosted_ ? accepted(now) : std::nullopt;
  requests_.clear();
  if (!target || *target == holder) return false;
  requests_.insert(*target);
  return true;
}

bool StrictCoschedPolicy::on_processor(TenantId id, Time now) const {
  const auto found = scheduled_.find(id);
  return found != scheduled_.end() && now - found->second <= kRequest;
}

bool StrictCoschedPolicy::wanted_by_host(TenantId id, Time now) const {
  return on_processor(id, now) && runnable(id);
}

/// Algorithm 2: the target of a request whose credit is as high as that of every competing target.
std::optional<TenantId> StrictCoschedPolicy::accepted(Time now) const {
  std::optional<Duration> highest;
  for (const auto& [id, told] : scheduled_) {
    if (wanted_by_host(id, now)) highest = std::max(highest.value_or(credit(id)), credit(id));
  }
  for (const TenantId target : requests_) {
    if (wanted_by_host(target, now) && credit(target) >= highest) return target;
  }
  return std::nullopt;
}

}  // namespace fairgv::sched
