#include "sched/policies/fair_paper.hpp"

#include <cmath>

namespace fairgv::sched {

void FairPaperPolicy::add(TenantId id, const TenantAttributes& attributes, Time) {
  queue_.add(id, attributes.weight);
}

void FairPaperPolicy::remove(TenantId id, Time) {
  queue_.remove(id);
}

void FairPaperPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time) {
  queue_.set_weight(id, attributes.weight);
}

void FairPaperPolicy::wake(TenantId id, Time) {
  queue_.wake(id, begun_ ? Duration(0) : Duration::max());
}

void FairPaperPolicy::block(TenantId id, Time) {
  queue_.block(id);
}

void FairPaperPolicy::charge(TenantId id, Duration used, Time) {
  queue_.charge(id, used);
}

bool FairPaperPolicy::may_forget(TenantId id) const {
  return !queue_.contains(id) || queue_.start_tag(id) <= queue_.virtual_time();
}

TenantBudget FairPaperPolicy::budget(TenantId id, Time) const {
  TenantBudget budget;
  if (!queue_.contains(id)) return budget;
  const double ahead = (queue_.start_tag(id) - queue_.virtual_time()) * queue_.weight(id);
  budget.ahead = Duration(std::llround(std::max(ahead, 0.0)));
  return budget;
}

void FairPaperPolicy::restore(TenantId id, const TenantBudget& budget, Time) {
  if (budget.ahead && *budget.ahead > Duration(0)) queue_.charge(id, *budget.ahead);
}

Decision FairPaperPolicy::next(Time) {
  const auto tenant = queue_.pick();
  if (!tenant) return {};
  return {Turn{.tenant = *tenant, .slice = slice(), .end = TurnEnd::measured, .switch_in = true},
          std::nullopt};
}

void FairPaperPolicy::begin(TenantId, Time) {
  begun_ = true;
}

void FairPaperIdlePolicy::remove(TenantId id, Time now) {
  if (owner_ == id) owner_.reset();
  FairPaperPolicy::remove(id, now);
}

void FairPaperIdlePolicy::block(TenantId id, Time now) {
  if (owner_ == id) owner_.reset();
  FairPaperPolicy::block(id, now);
}

Decision FairPaperIdlePolicy::next(Time now) {
  Decision decision = FairPaperPolicy::next(now);
  if (decision.turn && kept(now)) {
    decision.turn->tenant = *owner_;
    decision.turn->slice = turn_ends_ - now;
  }
  return decision;
}

void FairPaperIdlePolicy::begin(TenantId id, Time now) {
  FairPaperPolicy::begin(id, now);
  if (owner_ != id || !kept(now)) turn_ends_ = now + slice();
  owner_ = id;
  kept_ = false;
}

std::optional<Time> FairPaperIdlePolicy::pause(TenantId id, Time now) {
  if (owner_ != id || now >= turn_ends_) return std::nullopt;
  kept_ = true;
  return turn_ends_;
}

}  // namespace fairgv::sched
