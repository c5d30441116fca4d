#include "sched/policies/gover/cap.hpp"

#include <algorithm>

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {
namespace {

std::int64_t second_at(Time now) {
  return now.time_since_epoch() / CapPolicy::kSecond;
}

Time second_begins(std::int64_t second) {
  return Time(second * CapPolicy::kSecond);
}

std::int64_t stage_at(Time now) {
  return (now - second_begins(second_at(now))) / CapPolicy::kStage;
}

/// The time that a cap allows up to the end of this stage of a second.
Duration allowed(Share cap, std::int64_t stage) {
  return cap.of(CapPolicy::kStage * (stage + 1));
}

}  // namespace

void CapPolicy::add(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  if (!members_.try_emplace(id, Member{.cap = attributes.max, .second = second_at(now)}).second) {
    refuse_known_tenant(id);
  }
}

void CapPolicy::remove(TenantId id, Time) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  leave(id, found->second);
  members_.erase(found);
  if (endless_ == id) endless_.reset();
}

void CapPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.cap = attributes.max;
  queue(id, found->second, now);
}

void CapPolicy::wake(TenantId id, Time now) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.runnable = true;
  queue(id, found->second, now);
}

void CapPolicy::block(TenantId id, Time now) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  latest_ = now;
  found->second.runnable = false;
  leave(id, found->second);
}

void CapPolicy::charge(TenantId id, Duration used, Time now) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  use(found->second, std::max(used, Duration(0)), now);
  queue(id, found->second, now);
}

bool CapPolicy::may_forget(TenantId id) const {
  const auto found = members_.find(id);
  if (found == members_.end() || !found->second.capped()) return true;
  return used_in_this_second(found->second, latest_) == Duration(0);
}

TenantBudget CapPolicy::budget(TenantId id, Time now) const {
  const auto found = members_.find(id);
  TenantBudget budget;
  if (found == members_.end()) return budget;
  const Duration used = used_in_this_second(found->second, now);
  if (used > Duration(0)) budget.last_second.push_back({second_begins(second_at(now)), now, used});
  return budget;
}

void CapPolicy::restore(TenantId id, const TenantBudget& budget, Time now) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  const Time second = second_begins(second_at(now));
  Duration used{0};
  for (const UsedInterval& interval : budget.last_second) {
    if (interval.from >= second) {
      used += interval.used;
    } else if (interval.to > second) {  // another policy's: as much as can be of this second counts
      used += std::min(interval.used, interval.to - second);
    }
  }
  use(found->second, used, now);
}

Decision CapPolicy::next(Time now) {
  admit_due(now);
  const auto tenant = ready_.front();
  if (!tenant) {
    if (later_.empty() || later_.begin()->first == Time::max()) return {};
    return {std::nullopt, later_.begin()->first};
  }
  const Member& member = members_.at(*tenant);
  Turn turn{*tenant, slice()};
  if (member.capped()) {
    turn.slice = std::min(turn.slice, left(member, now));
    turn.bounded = true;
  }
  return {turn, std::nullopt};
}

void CapPolicy::begin(TenantId id, Time) {
  const auto found = members_.find(id);
  endless_.reset();
  if (found != members_.end() && !found->second.capped()) endless_ = id;
}

void CapPolicy::end(TenantId id, Time) {
  if (endless_ == id) endless_.reset();
  ready_.move_to_back(id);
}

std::optional<Time> CapPolicy::review_at(TenantId holder, Time now) const {
  const auto found = members_.find(holder);
  if (endless_ != holder || found == members_.end() || !found->second.capped()) return std::nullopt;
  return second_begins(second_at(now)) + kStage * (stage_at(now) + 1);
}

bool CapPolicy::must_yield(TenantId holder, Time now) {
  const auto found = members_.find(holder);
  return found != members_.end() && !may_run(found->second, now);
}

Duration CapPolicy::used_in_this_second(const Member& member, Time now) {
  return member.second == second_at(now) ? member.used : Duration(0);
}

Duration CapPolicy::left(const Member& member, Time now) {
  return allowed(member.cap, stage_at(now)) - used_in_this_second(member, now);
}

bool CapPolicy::may_run(const Member& member, Time now) {
  return !member.capped() || left(member, now) > Duration(0);
}

/// The beginning of the next stage in which the tenant has time left.
Time CapPolicy::next_time_left(const Member& member, Time now) {
  const Duration used = used_in_this_second(member, now);
  for (std::int64_t stage = stage_at(now) + 1; stage < kStages; ++stage) {
    if (allowed(member.cap, stage) > used) return second_begins(second_at(now)) + kStage * stage;
  }
  if (allowed(member.cap, 0) <= Duration(0)) return Time::max();
  return second_begins(second_at(now) + 1);
}

void CapPolicy::use(Member& member, Duration used, Time now) {
  member.used = used_in_this_second(member, now) + used;
  member.second = second_at(now);
}

/// Puts a runnable tenant where it belongs; a ready one keeps its place.
void CapPolicy::queue(TenantId id, Member& member, Time now) {
  latest_ = now;
  if (!member.runnable) return;
  if (may_run(member, now)) {
    if (member.due) leave(id, member);
    ready_.push_back(id);
    return;
  }
  const Time due = next_time_left(member, now);
  if (member.due == due) return;
  leave(id, member);
  member.due = due;
  later_.emplace(due, id);
}

void CapPolicy::leave(TenantId id, Member& member) {
  ready_.erase(id);
  if (member.due) later_.erase({*member.due, id});
  member.due.reset();
}

/// The tenants whose stage has come, in the order of their stages.
void CapPolicy::admit_due(Time now) {
  while (!later_.empty() && later_.begin()->first <= now) {
    const TenantId id = later_.begin()->second;
    queue(id, members_.at(id), now);
  }
}

}  // namespace fairgv::sched
