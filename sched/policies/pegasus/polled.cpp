#include "sched/policies/pegasus/polled.hpp"

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {

void PolledPolicy::add(TenantId id, const TenantAttributes& attributes, Time) {
  require_valid_weight(id, attributes.weight);
  if (!runnable_.try_emplace(id, false).second) refuse_known_tenant(id);
  described(id, attributes);
}

void PolledPolicy::remove(TenantId id, Time now) {
  if (!known(id)) return;
  block(id, now);
  if (owner_ == id) owner_.reset();
  forgotten(id);
  runnable_.erase(id);
}

void PolledPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  if (!known(id)) return;
  const bool was_runnable = runnable(id);
  if (was_runnable) left(id, now);
  described(id, attributes);
  if (was_runnable) joined(id, now);
}

void PolledPolicy::wake(TenantId id, Time now) {
  const auto found = runnable_.find(id);
  if (found == runnable_.end() || found->second) return;
  found->second = true;
  ++runnable_count_;
  joined(id, now);
}

void PolledPolicy::block(TenantId id, Time now) {
  const auto found = runnable_.find(id);
  if (found == runnable_.end() || !found->second) return;
  found->second = false;
  --runnable_count_;
  if (const Duration rest = rest_of_turn(id, now); rest > Duration(0)) {
    turn_ends_ = now;
    cut_short(id, rest);
  }
  left(id, now);
}

void PolledPolicy::charge(TenantId, Duration, Time) {}

Decision PolledPolicy::next(Time now) {
  if (runnable_count_ == 0) return {};
  if (owner_ && runnable(*owner_) && now < turn_ends_) {
    return {Turn{*owner_, turn_ends_ - now, TurnEnd::clock}, std::nullopt};
  }
  const TenantId tenant = pick(now);
  return {Turn{tenant, turn_length(tenant, now), TurnEnd::clock}, std::nullopt};
}

void PolledPolicy::begin(TenantId id, Time now) {
  if (!known(id) || rest_of_turn(id, now) > Duration(0)) return;
  const Duration length = turn_length(id, now);
  owner_ = id;
  turn_ends_ = now + length;
  began(id, length, now);
}

std::optional<Time> PolledPolicy::pause(TenantId id, Time now) {
  if (rest_of_turn(id, now) <= Duration(0)) return std::nullopt;
  return turn_ends_;
}

}  // namespace fairgv::sched
