// The arbiter interrupts turns: a tenant that needs the device for a moment has it while the worker of the
// turn in progress is stopped (interruption.hpp).
#include <algorithm>
#include <utility>

#include "runtime/daemon/turns/arbiter.hpp"

namespace fairgv::daemon {

/// A tenant has begun to wait: interrupts the turn for it, if the policy says so and it is possible.
bool Arbiter::interrupt(const SessionPlace& newcomer, Time now) {
  sched::Interrupter* const interrupter = policy_->interrupter();
  if (interrupter == nullptr || device_.interrupted || !device_.interruptible()) return false;
  const SessionPlace& holder = holding_place();
  const auto longest = interrupter->interrupts(newcomer.tenant, holder.tenant, now);
  if (!longest) return false;
  policy_->set_slice(slice());
  sched::Decision next = policy_->next(now);
  if (!next.turn || next.turn->tenant != newcomer.tenant || next.turn->end == sched::TurnEnd::clock) {
    return false;
  }
  SessionPlace& first = device_.places.at(device_.line.first_of(newcomer.tenant));
  if (!MemoryLender::is_ready(first) || !holder.stand_still()) return false;
  next.turn->slice = std::min(next.turn->slice, *longest);
  next.turn->bounded = true;
  log_.note(device_.turn->traced(log_.time(now), true));
  device_.interrupted.emplace(*std::exchange(device_.turn, std::nullopt), now);
  review_at_.reset();
  interrupter->interrupted(holder.tenant, now);
  const PlaceId id = device_.line.first_of(newcomer.tenant);
  if (!grant(id, device_.places.at(id), *next.turn, now)) grant_next(now);
  return true;
}

/// The device is free again: the interrupted turn goes on.
void Arbiter::go_on(Time now) {
  const Time traced_from = log_.time(now);
  let_go(now);
  device_.turn = std::exchange(device_.interrupted, std::nullopt)->resumed(traced_from);
  SessionPlace& place = holding_place();
  if (auto* const interrupter = policy_->interrupter()) {
    interrupter->resumed(place.tenant, now);
  } else {
    policy_->begin(place.tenant, now);
  }
  plan_review(now);
  // While its worker ran beside the other, it may have ended its turn.
  if (const State state = place.state(); state == State::idle || state == State::wanting) {
    return end_turn(place, state, now);
  }
  TurnInProgress& turn = *device_.turn;
  if (place.suspended) turn.ends = now;
  const auto next = device_.line.empty() ? sched::Decision{} : policy_->next(now);
  if (next.turn && next.turn->tenant != place.tenant) return contend(next.turn->tenant, now);
  if (!device_.line.empty() || place.suspended) return reclaim_turn(now);
  if (turn.must_end) deadline_ = turn.ends.value_or(now + turn.slice + kPatience);
}

void Arbiter::let_go(Time now) {
  device_.interrupted->let_go(device_.places.at(device_.interrupted->place()), now);
}

}  // namespace fairgv::daemon
