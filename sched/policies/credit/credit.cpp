#include "sched/policies/credit/credit.hpp"

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {

void CreditPolicy::add(TenantId id, const TenantAttributes& attributes, Time) {
  require_valid_weight(id, attributes.weight);
  if (!members_.try_emplace(id, Member{attributes.weight}).second) refuse_known_tenant(id);
}

void CreditPolicy::remove(TenantId id, Time now) {
  block(id, now);
  if (in_use_ && in_use_->tenant == id) in_use_.reset();
  members_.erase(id);
}

void CreditPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time) {
  require_valid_weight(id, attributes.weight);
  if (const auto found = members_.find(id); found != members_.end()) {
    found->second.weight = attributes.weight;
  }
}

void CreditPolicy::wake(TenantId id, Time) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.active = true;
  lane(found->second).push_back(id);
}

void CreditPolicy::block(TenantId id, Time now) {
  if (in_use_ && in_use_->tenant == id && in_use_->kept) {
    pay(now);
    in_use_.reset();
  }
  under_.erase(id);
  over_.erase(id);
}

void CreditPolicy::charge(TenantId, Duration, Time) {}

TenantBudget CreditPolicy::budget(TenantId id, Time) const {
  TenantBudget budget;
  if (const auto found = members_.find(id); found != members_.end()) {
    budget.reserve = ReserveState{found->second.credit, {}};
  }
  return budget;
}

void CreditPolicy::restore(TenantId id, const TenantBudget& budget, Time) {
  const auto found = members_.find(id);
  if (found == members_.end() || !budget.reserve) return;
  found->second.credit = Duration(0);
  change_credit(id, found->second, budget.reserve->left);
}

Decision CreditPolicy::next(Time now) {
  if (in_use_ && kept_for(in_use_->tenant, now)) {
    return {turn_of(in_use_->tenant, in_use_->ends - now), std::nullopt};
  }
  const auto tenant = under_.empty() ? over_.front() : under_.front();
  if (!tenant) return {};
  return {turn_of(*tenant, slice()), std::nullopt};
}

Turn CreditPolicy::turn_of(TenantId id, Duration slice) const {
  return {.tenant = id, .slice = slice, .end = TurnEnd::clock, .gives_back = gives_back()};
}

void CreditPolicy::begin(TenantId id, Time now) {
  if (kept_for(id, now)) {
    in_use_->kept = false;
  } else {
    in_use_ = SliceInUse{id, now, now + slice()};
  }
}

void CreditPolicy::end(TenantId id, Time now) {
  if (!in_use_ || in_use_->tenant != id) return;
  pay(now);
  under_.move_to_back(id);
  over_.move_to_back(id);
}

std::optional<Time> CreditPolicy::keep(TenantId id, Time now) {
  if (!in_use_ || in_use_->tenant != id || now >= in_use_->ends) return std::nullopt;
  in_use_->kept = true;
  return in_use_->ends;
}

void CreditPolicy::pay_whole_slice(TenantId id) {
  if (in_use_ && in_use_->tenant == id) pay(in_use_->ends);
}

bool CreditPolicy::kept_for(TenantId id, Time now) const {
  return in_use_ && in_use_->tenant == id && in_use_->kept && now < in_use_->ends;
}

/// Pays for the slice in use, up to now.
void CreditPolicy::pay(Time now) {
  const Time until = std::min(now, in_use_->ends);
  const Duration due = std::max(until - in_use_->paid_until, Duration(0));
  in_use_->paid_until += due;
  const auto found = members_.find(in_use_->tenant);
  if (found == members_.end()) return;
  found->second.active = true;
  change_credit(found->first, found->second, -due);
  paid_ += due;
  if (paid_ >= slice()) hand_out();
}

void CreditPolicy::change_credit(TenantId id, Member& member, Duration change) {
  ArrivalQueue& before = lane(member);
  member.credit = std::clamp<Duration>(member.credit + change, -slice(), slice());
  ArrivalQueue& after = lane(member);
  if (&before == &after || !before.contains(id)) return;
  before.erase(id);
  after.push_back(id);
}

void CreditPolicy::hand_out() {
  std::int64_t weights = 0;
  for (const auto& [id, member] : members_) weights += member.active ? member.weight : 0;
  for (auto& [id, member] : members_) {
    if (!member.active) continue;
    change_credit(id, member, paid_ * static_cast<std::int64_t>(member.weight) / weights);
    member.active = runnable(id);
  }
  paid_ = Duration(0);
}

}  // namespace fairgv::sched
