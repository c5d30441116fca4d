// The arbiter has memory come in for the session that is next (memory_lender.hpp).
#include <algorithm>
#include <utility>

#include "runtime/daemon/turns/arbiter.hpp"

namespace fairgv::daemon {

Arbiter::Duration Arbiter::slice() const {
  return device_.memory.slice(device_.rules.slices.of(device_.line.tenants()), device_.places);
}

/// Whether the place may have the turn; else its memory comes in, and the device waits for it.
bool Arbiter::has_memory(PlaceId id, SessionPlace& place, Time now) {
  if (!device_.memory.is_on() || MemoryLender::is_ready(place)) return true;
  device_.memory.waits_for(now);
  lend_to(place, now);
  std::vector<std::pair<PlaceId, const char*>> faults;
  device_.places.each([&](PlaceId at, SessionPlace& each) {
    if (each.broken) return;
    if (const char* const fault = MemoryLender::fault_of(each, device_.rules.hold_limit, now))
      faults.emplace_back(at, fault);
  });
  if (faults.empty() && device_.memory.is_late(place, device_.rules.hold_limit, now))
    faults.emplace_back(id, "did not bring in what its next command uses (hold_limit_s)");
  for (const auto& [at, fault] : faults) report_broken(at, device_.places.at(at), fault, now);
  deadline_ = now + kPatience;
  return false;
}

void Arbiter::lend_to(SessionPlace& place, Time now) {
  const auto keep = [this](const SessionPlace& each) {
    return (device_.turn && &each == &holding_place()) ||
           (device_.interrupted && &each == &device_.places.at(device_.interrupted->place()));
  };
  const bool on_demand = device_.memory.rule().on_demand;
  const auto is_later = [this, on_demand](const SessionPlace& one, const SessionPlace& other) {
    if (on_demand) return one.turn_ended < other.turn_ended;
    // Of sessions that want no turn the one that has had none for longest is likely to want none for longest.
    if (one.waiting != other.waiting) return !one.waiting;
    if (!one.waiting) return one.turn_ended < other.turn_ended;
    const double position = policy_->position(one.tenant);
    const double others = policy_->position(other.tenant);
    return position != others ? position > others : one.waiting_since > other.waiting_since;
  };
  device_.memory.lend_to(place, device_.places, keep, is_later, now);
}

/// A turn is in progress: its own session's memory first, then that of the session whose turn comes next.
void Arbiter::lend_to_next(Time now) {
  if (!device_.memory.is_on() || !device_.turn) return;
  SessionPlace& holder = holding_place();
  if (!MemoryLender::is_ready(holder)) return lend_to(holder, now);
  if (device_.memory.rule().on_demand) return;
  SessionPlace* next = nullptr;
  device_.places.each([&](SessionPlace& each) {
    if (!each.waiting || each.broken) return;
    const auto order = [this](const SessionPlace& place) {
      return std::pair(policy_->position(place.tenant), place.waiting_since);
    };
    if (next == nullptr || order(each) < order(*next)) next = &each;
  });
  if (next != nullptr) lend_to(*next, now);
}

bool Arbiter::others_lack_memory(const SessionPlace& place) {
  bool lack = false;
  if (!device_.memory.is_on()) return lack;
  device_.places.each([&](SessionPlace& each) {
    lack = lack || (&each != &place && each.waiting && !MemoryLender::is_ready(each));
  });
  return lack;
}

void Arbiter::look_at_memory(Time now) {
  if (!device_.memory.is_on()) return;
  if (device_.turn) {
    lend_to_next(now);
  } else if (device_.memory.waits() && !kept_for_) {
    grant_next(now);
  }
}

}  // namespace fairgv::daemon
