#include "sched/policies/pegasus/slaf.hpp"

#include <algorithm>

namespace fairgv::sched {

TenantBudget SlafPolicy::budget(TenantId id, Time now) const {
  TenantBudget budget = RingPolicy::budget(id, now);
  if (const auto found = levels_.find(id); found != levels_.end()) {
    budget.reserve->left += slice() * static_cast<std::int64_t>(found->second.lacking);
  }
  return budget;
}

/// Whole ticks are lacking ticks, and the rest belongs to the next turn.
void SlafPolicy::restore(TenantId id, const TenantBudget& budget, Time now) {
  const auto found = levels_.find(id);
  if (found == levels_.end() || !budget.reserve || budget.reserve->left <= Duration(0)) return;
  const Duration left = std::min(budget.reserve->left, kScan);
  found->second.lacking = static_cast<std::uint64_t>(left / slice());
  TenantBudget rest;
  rest.reserve = ReserveState{left % slice(), budget.reserve->replenished};
  RingPolicy::restore(id, rest, now);
}

void SlafPolicy::described(TenantId id, const TenantAttributes& attributes) {
  RingPolicy::described(id, attributes);
  levels_[id].expected = attributes.min.share();
}

void SlafPolicy::forgotten(TenantId id) {
  RingPolicy::forgotten(id);
  levels_.erase(id);
}

void SlafPolicy::joined(TenantId id, Time now) {
  RingPolicy::joined(id, now);
  levels_.at(id).ready_since = now;
}

void SlafPolicy::left(TenantId id, Time now) {
  RingPolicy::left(id, now);
  Level& level = levels_.at(id);
  level.ready += now - level.ready_since;
}

void SlafPolicy::began(TenantId id, Duration length, Time now) {
  RingPolicy::began(id, length, now);
  Level& level = levels_.at(id);
  if (extra_ticks(id) > 0) {
    --level.lacking;
    length -= slice();  // it compensates for the time before the last scan
  }
  if (!scanned_) scanned_ = now;
  if (now - *scanned_ >= kScan) scan(now);
  level.polled += length;
}

void SlafPolicy::cut_short(TenantId id, Duration unused) {
  levels_.at(id).polled -= unused;
}

std::uint64_t SlafPolicy::extra_ticks(TenantId id) const {
  if (levels_.at(id).lacking == 0) return 0;
  if (!high_load_) return 1;
  const bool richer = std::any_of(levels_.begin(), levels_.end(), [&](const auto& other) {
    return other.second.lacking > 0 && runnable(other.first) && credits(other.first) > credits(id);
  });
  return richer ? 0 : 1;
}

void SlafPolicy::scan(Time now) {
  scanned_ = now;
  std::uint64_t expected = 0;
  for (auto& [id, level] : levels_) {
    if (runnable(id)) {
      level.ready += now - level.ready_since;
      level.ready_since = now;
      expected += level.expected.ppm;
    }
    const Duration lacks = level.expected.of(level.ready) - level.polled;
    level.lacking = lacks > Duration(0) ? static_cast<std::uint64_t>((lacks + slice() / 2) / slice()) : 0;
    level.polled = level.ready = Duration(0);
  }
  high_load_ = expected > Share::kWholePpm;
}

}  // namespace fairgv::sched
