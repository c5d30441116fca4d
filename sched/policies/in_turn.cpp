#include "sched/policies/in_turn.hpp"

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {

void InTurnPolicy::add(TenantId id, const TenantAttributes& attributes, Time) {
  require_valid_weight(id, attributes.weight);
  if (!known_.insert(id).second) refuse_known_tenant(id);
}

void InTurnPolicy::remove(TenantId id, Time) {
  known_.erase(id);
  runnable_.erase(id);
}

void InTurnPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time) {
  require_valid_weight(id, attributes.weight);
}

void InTurnPolicy::wake(TenantId id, Time) {
  if (known_.contains(id)) runnable_.push_back(id);
}

void InTurnPolicy::block(TenantId id, Time) {
  runnable_.erase(id);
}

void InTurnPolicy::charge(TenantId, Duration, Time) {}

Decision InTurnPolicy::next(Time) {
  const auto tenant = runnable_.front();
  if (!tenant) return {};
  return {Turn{*tenant, turn_length(), TurnEnd::measured}, std::nullopt};
}

void InTurnPolicy::end(TenantId id, Time) {
  runnable_.move_to_back(id);
}

}  // namespace fairgv::sched
