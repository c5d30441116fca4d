#include "sched/policies/timegraph/reserve_table.hpp"

namespace fairgv::sched {

ReserveGroup* ReserveTable::find(std::uint64_t name) {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

ReserveGroup& ReserveTable::make(std::uint64_t name, const Reserve& reserve) {
  return groups_.try_emplace(name, name, reserve).first->second;
}

void ReserveTable::advance(Time now) {
  while (!stalled_.empty() && stalled_.begin()->first <= now) {
    change(groups_.at(stalled_.begin()->second), now, [] {});
  }
  while (!fading_.empty() && fading_.begin()->first <= now) {
    change(groups_.at(fading_.begin()->second), now, [] {});
  }
}

void ReserveTable::take_out(ReserveGroup& group, Time now) {
  group.reserve.advance(now, group.cost());
  if (group.ready) ready_.erase(*group.ready);
  if (group.due) {
    stalled_.erase({*group.due, group.name});
    fading_.erase({*group.due, group.name});
  }
  group.ready.reset();
  group.due.reset();
}

void ReserveTable::put_back(ReserveGroup& group, Time now) {
  group.reserve.advance(now, group.cost());  // a restored reserve may be behind
  if (!group.waiting.empty()) {
    const auto& [place, cost] = *group.waiting.begin();
    if (group.reserve.allows(cost)) {
      group.ready = place;
      ready_.emplace(place, &group);
    } else {
      group.due = group.reserve.allowed_at(cost);
      stalled_.emplace(*group.due, group.name);
    }
  } else if (group.tasks == 0) {
    group.due = group.reserve.full_at();
    if (group.due) {
      fading_.emplace(*group.due, group.name);
    } else {
      groups_.erase(group.name);
    }
  }
}

}  // namespace fairgv::sched
