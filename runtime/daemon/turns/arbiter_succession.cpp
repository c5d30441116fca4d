// The arbiter goes on from another policy, or from an earlier dispatcher: nothing is refilled, no turn ends.
#include <algorithm>
#include <utility>

#include "runtime/daemon/turns/arbiter.hpp"

namespace fairgv::daemon {

void Arbiter::set_policy(std::unique_ptr<sched::Policy> policy, Time now) {
  charge_holder(now);
  stop_keeping(now);
  save_budgets(now);
  policy_ = std::move(policy);
  device_.charges.use_policy(*policy_);
  device_.policy = policy_.get();
  for (const auto& [id, tenant] : device_.charges.accounts().all()) {
    policy_->add(id, tenant.attributes, now);
    policy_->restore(id, tenant.budget, now);
  }
  wake_all(now);
  if (device_.turn) {
    policy_->begin(holding_place().tenant, now);
    attributes_changed(now);
  } else {
    grant_next(now);
  }
}

void Arbiter::save_budgets(Time now) {
  for (auto& [id, tenant] : device_.charges.accounts().all()) tenant.budget.update(policy_->budget(id, now));
}

/// Tells a policy that has just been given the tenants' budgets which of them want the device: who owes least
/// first, since a debt is one to the tenants that wait.
void Arbiter::wake_all(Time now) {
  std::vector<std::pair<Duration, TenantId>> wanting;
  for (const auto& [id, tenant] : device_.charges.accounts().all()) {
    const bool holds = device_.turn && holding_place().tenant == id;
    if (holds || device_.line.has(id)) wanting.emplace_back(tenant.budget.ahead.value_or(Duration(0)), id);
  }
  std::sort(wanting.begin(), wanting.end());
  for (const auto& [ahead, id] : wanting) policy_->wake(id, now);
}

void Arbiter::adopt(PlaceId id, SessionPlace& place, State state, const std::optional<TurnBooks>& books,
                    Time now) {
  if (state == State::wanting) {
    line_up(id, place, now);
  } else {
    if (device_.turn) {
      // Both pages say that their session has the turn, and workers write the pages: the earlier dispatcher
      // knew better.
      const bool is_owner = books && !device_.turn->known_before;
      const PlaceId other = is_owner ? device_.turn->place : id;
      report_broken(other, device_.places.at(other), "took the device without a turn", now);
      if (!is_owner) return;
    }
    device_.turn = TurnInProgress::adopted(id, *place.turn, state == State::busy_asked, books, now);
  }
}

void Arbiter::resume(Time now) {
  wake_all(now);
  if (!device_.turn) return grant_next(now);
  policy_->begin(holding_place().tenant, now);
  attributes_changed(now);
  if (!device_.turn || device_.line.empty()) return;
  device_.charges.contest(*device_.turn, holding_place(), now);
  deadline_ = now + kPatience;
}

}  // namespace fairgv::daemon
