#include "runtime/daemon/turns/arbiter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace fairgv::daemon {

using session::DispatcherTurn;

Arbiter::Arbiter(std::unique_ptr<sched::Policy> policy)
    : policy_(std::move(policy)), device_{.rules = {sched::SliceRule::constant(policy_->slice())}} {
  device_.charges.use_policy(*policy_);
  device_.policy = policy_.get();
}

// -- places that come and go

void Arbiter::want(PlaceId id, SessionPlace& place, Time now) {
  // Charge before the newcomer is compared with the holder: the policy must know the holder's use.
  charge_holder(now);
  line_up(id, place, now);
  device_.places.count_user(place, true);
  policy_->wake(place.tenant, now);
  if (device_.turn) {
    if (!interrupt(place, now)) contend(place.tenant, now);
  } else if (!kept_for_ || *kept_for_ == place.tenant ||
             policy_->preempts(place.tenant, *kept_for_, now).value_or(Time::max()) <= now) {
    stop_keeping(now);
    grant_next(now);
  }
}

void Arbiter::leave(PlaceId id, SessionPlace& place, Time now) {
  device_.line.remove(id, place.tenant);
  place.waiting = false;
  if (!device_.line.empty()) return;
  device_.charges.set_wanted(false, now);
  if (device_.turn) device_.turn->obstructs_since.reset();
}

void Arbiter::break_off(PlaceId id, SessionPlace& place, Time now) {
  if (is_interrupted(id)) let_go(now);
  TurnInProgress& turn = is_interrupted(id) ? device_.interrupted->turn() : *device_.turn;
  charge(turn, place, now);
  device_.charges.charge_broken_off(turn, place, now);
  device_.charges.charge_least(turn, place, now);
  if (is_interrupted(id)) {
    device_.interrupted.reset();
  } else {
    forget_turn(now);
  }
  policy_->end(place.tenant, now);
}

void Arbiter::settle(TenantId tenant, bool had_turn, Time now) {
  tell_company();
  const bool kept = kept_for_ == tenant && device_.places.of(tenant).empty();
  if (kept) stop_keeping(now);
  block_if_idle(tenant, now);
  if (had_turn || kept) grant_next(now);
}

void Arbiter::look_at_holder(SessionPlace& place, Time now) {
  const State state = place.state();
  switch (state) {
    case State::idle:
    case State::wanting:
      end_turn(place, state, now);
      return;
    case State::held:
    case State::busy:
      return;
    case State::busy_asked:
      if (device_.turn->asked) return;
      break;
  }
  report_broken(device_.turn->place, place, "put its turn into a state that the protocol does not have", now);
}

void Arbiter::suspend(PlaceId id, SessionPlace& place, Time now) {
  charge_holder(now);
  place.suspended = true;
  if (device_.turn && device_.turn->place == id) {
    // expire() takes the turn back, or asks for it, and asks again while it does not come.
    device_.turn->ends = std::min(device_.turn->ends.value_or(now), now);
    deadline_ = now;
  } else if (place.waiting) {
    place.waited = now - place.waiting_since;
    leave(id, place, now);
    block_if_idle(place.tenant, now);
  }
  device_.places.count_user(place, false);
  tell_company();
  if (kept_for_ == place.tenant && device_.places.all_suspended(place.tenant)) deadline_ = now;
}

// -- time

std::optional<Arbiter::Time> Arbiter::deadline() const {
  std::optional<Time> first = deadline_;
  for (const auto& other :
       {review_at_, device_.interrupted ? device_.interrupted->deadline() : std::nullopt}) {
    if (other && (!first || *other < *first)) first = other;
  }
  return first;
}

void Arbiter::expire(Time now) {
  if (device_.interrupted && device_.interrupted->deadline() <= now) let_go(now);
  if (device_.turn && review_at_ && now >= *review_at_) {
    charge_holder(now);
    review(now);
    if (device_.turn && device_.turn->ends && *device_.turn->ends <= now) reclaim_turn(now);
  }
  if (!deadline_ || now < *deadline_) return;
  deadline_.reset();
  if (!device_.turn) {
    stop_keeping(now);
    grant_next(now);
  } else if (!device_.line.empty() || holding_place().suspended || device_.turn->must_end) {
    // A worker that goes on beyond the end of a bounded turn is asked for it.
    if (device_.turn->must_end && !device_.turn->ends) device_.turn->ends = now;
    reclaim_turn(now);
  }
}

std::optional<TurnInProgress::Window> Arbiter::end_expected() const {
  const auto& turn = device_.turn;
  if (!turn || turn->ends || turn->slice == Duration(0)) return std::nullopt;
  if (device_.line.empty() || device_.line.length() > kMostWaitingAwake) return std::nullopt;
  const SessionPlace& place = device_.places.at(turn->place);
  // Relaxed: the worker's hint, which makes this thread poll in its own turns and no longer.
  if (place.header->coscheduling.device_apart.load(std::memory_order_relaxed) == 0) return std::nullopt;
  return turn->end_expected();
}

void Arbiter::announce_next(Time now) {
  const auto window = end_expected();
  if (!window || now < window->from || std::exchange(device_.turn->announced, true)) return;
  charge_holder(now);  // the policy must know the holder's use
  const sched::Decision decision = policy_->next(now);
  if (!decision.turn) return;
  const TenantId next = decision.turn->tenant;
  if (!device_.line.has(next)) return;  // the holder again
  device_.places.at(device_.line.first_of(next)).announce();
}

void Arbiter::charge_holder(Time now) {
  // Looked at first: all use until then is in used_ns. While a command runs, its begin is not known.
  const bool rests = device_.charges.may_rest() && (!device_.turn || holding_place().state() == State::held);
  if (device_.turn) charge(*device_.turn, holding_place(), now);
  if (rests) device_.charges.tell_rest(now);
}

void Arbiter::report_broken(PlaceId id, SessionPlace& place, const std::string& reason, Time now,
                            bool held_too_long) {
  if (place.broken) return;
  place.broken = true;
  if (place.waiting) {
    leave(id, place, now);
    block_if_idle(place.tenant, now);
  }
  broken_.push_back({id.session, "the worker " + reason, held_too_long});
}

// -- inside

bool Arbiter::holds(TenantId id) const {
  const auto is_its = [&](PlaceId at) { return device_.places.at(at).tenant == id; };
  return (device_.turn && is_its(device_.turn->place)) ||
         (device_.interrupted && is_its(device_.interrupted->place()));
}

/// Another tenant waits, and is next: the turn in progress ends when the policy says.
void Arbiter::contend(TenantId newcomer, Time now) {
  SessionPlace& place = holding_place();
  device_.charges.contest(*device_.turn, place, now);
  if (const auto from = policy_->preempts(newcomer, place.tenant, now)) {
    device_.turn->ends = std::min(device_.turn->ends.value_or(Time::max()), std::max(*from, now));
  }
  review(now);
  reclaim_turn(now);
}

/// Charges the holder's measurements; false if it broke the protocol.
bool Arbiter::charge(TurnInProgress& turn, SessionPlace& place, Time now) {
  if (device_.charges.charge_reported(turn, place, now)) return true;
  report_broken(turn.place, place, "reported less device time than before", now);
  return false;
}

void Arbiter::line_up(PlaceId id, SessionPlace& place, Time now) {
  place.waiting = true;
  place.waiting_since = now;
  device_.charges.set_wanted(true, now);
  if (!device_.line.has(place.tenant)) policy_->expect(place.tenant, place.next_cost(), now);
  device_.line.add(id, place.tenant);
}

/// Tells the session that uses the device whether the device is shared.
void Arbiter::tell_company() {
  if (device_.turn) holding_place().tell_company(device_.places.shared());
}

void Arbiter::block_if_idle(TenantId id, Time now) {
  if (!holds(id) && kept_for_ != id && !device_.line.has(id)) policy_->block(id, now);
}

void Arbiter::stop_keeping(Time now) {
  if (!kept_for_) return;
  const TenantId id = *std::exchange(kept_for_, std::nullopt);
  block_if_idle(id, now);
}

void Arbiter::attributes_changed(Time now) {
  if (device_.turn) {
    review(now);
    if (device_.turn->must_end && device_.turn->ends) reclaim_turn(now);
  } else if (!device_.line.empty() && !kept_for_) {
    grant_next(now);
  }
}

void Arbiter::hear_of_host(std::span<const HostTold> tenants, Time now) {
  charge_holder(now);
  for (const auto& [tenant, state] : tenants) policy_->host(tenant, state, now);
  attributes_changed(now);
}

/// Asks the policy whether the holder is to give the device back before its time. The policy knows the
/// holder's use.
void Arbiter::review(Time now) {
  const TenantId holder = holding_place().tenant;
  if (policy_->must_yield(holder, now)) {
    device_.turn->must_end = true;
    device_.turn->ends = std::min(device_.turn->ends.value_or(Time::max()), now);
  }
  plan_review(now);
}

void Arbiter::plan_review(Time now) {
  review_at_ = policy_->review_at(holding_place().tenant, now);
  if (review_at_) review_at_ = std::max(*review_at_, now + Duration(1));  // time must pass
}

/// A session waits, or the holder is suspended: brings the turn to an end. Called when that begins, and then
/// every kPatience as long as it lasts.
void Arbiter::reclaim_turn(Time now) {
  TurnInProgress& turn = *device_.turn;
  if (turn.ends && now < *turn.ends) {
    deadline_ = turn.ends;
    return;
  }
  SessionPlace& place = holding_place();
  deadline_ = now + kPatience;
  if (place.broken) return;  // remove_session() ends its turn
  if (!device_.line.empty() || device_.interrupted) watch_obstruction(place, now);
  // The worker may move the state between our look and our move, any number of times; a few tries are enough
  // for an honest worker, and a busy one is asked again after the patience.
  for (int attempt = 0; attempt < 16; ++attempt) {
    const State state = place.state();
    if (state == State::held) {
      // A turn of limited length is given back by its worker; a turn that lies unused for long is not.
      const bool leave = turn.ends ? turn.is_fresh(place, now) : now < turn.granted + kPatience;
      if (leave) {
        deadline_ = turn.granted + (turn.ends ? Duration(TurnInProgress::kFreshGrant) : Duration(kPatience));
        return;
      }
      if (DispatcherTurn(*place.turn).take_back()) {
        turn.taken_back = true;
        return end_turn(place, State::idle, now);
      }
    } else if (state == State::busy && turn.ends) {
      turn.asked = DispatcherTurn(*place.turn).ask();
      if (turn.asked) return;
    } else {
      return look_at_holder(place, now);
    }
  }
}

/// The watchdog. The worker's conduct since then does not matter: honest workers give the turn back within a
/// slice, unless a single command lasts longer.
void Arbiter::watch_obstruction(SessionPlace& place, Time now) {
  const Duration limit = device_.rules.hold_limit;
  if (!device_.turn->outlasts(limit, now) || !place.is_busy()) return;
  const double seconds = std::chrono::duration<double>(limit).count();
  report_broken(
      device_.turn->place, place,
      fmt::format("held a device for more than {:g} s while others waited for it (hold_limit_s)", seconds),
      now, true);
}

/// The turn came back: its state is idle or wanting. Charges the turn and finds the next.
void Arbiter::end_turn(SessionPlace& place, State state, Time now) {
  const PlaceId id = device_.turn->place;
  const bool honest = charge(*device_.turn, place, now);
  device_.charges.charge_least(*device_.turn, place, now);
  const bool paused =
      state == State::idle && honest && !place.suspended && !device_.turn->taken_back && device_.turn->worked;
  forget_turn(now);
  MemoryLender::end(place, now);
  policy_->end(place.tenant, now);
  if (state == State::wanting && honest && !place.suspended) line_up(id, place, now);
  if (paused && !device_.interrupted && !device_.line.has(place.tenant)) {
    if (const auto until = policy_->pause(place.tenant, now)) {
      kept_for_ = place.tenant;
      deadline_ = until;
      return;
    }
  }
  block_if_idle(place.tenant, now);
  grant_next(now);
}

void Arbiter::forget_turn(Time now) {
  log_.note(device_.turn->traced(log_.time(now), true));
  device_.turn.reset();
  review_at_.reset();
}

void Arbiter::grant_next(Time now) {
  deadline_.reset();
  if (device_.interrupted) return go_on(now);
  while (!device_.line.empty()) {
    policy_->set_slice(slice());
    if (auto* const interrupter = policy_->interrupter()) interrupter->set_possible(device_.interruptible());
    const sched::Decision decision = policy_->next(now);
    if (!decision.turn) {
      deadline_ = decision.ask_again;
      return;
    }
    const PlaceId id = device_.line.first_of(decision.turn->tenant);
    SessionPlace& place = device_.places.at(id);
    if (!has_memory(id, place, now)) return;
    if (grant(id, place, *decision.turn, now)) return lend_to_next(now);
  }
}

bool Arbiter::grant(PlaceId id, SessionPlace& place, const sched::Turn& next, Time now) {
  const bool alone = device_.line.length() == 1;
  const bool by_clock = next.end == sched::TurnEnd::clock;
  const bool endless = alone && !next.bounded;
  // Read before the grant: the worker may count on afterwards.
  const std::uint64_t commands = place.turn->commands.load(std::memory_order_relaxed);
  const Time traced_from = log_.time(now);
  const Duration slice = endless || by_clock ? Duration(0) : next.slice;
  const std::uint32_t depth = next.depth == 0 && by_clock ? sched::kDriverQueue : next.depth;
  place.tell_company(device_.places.shared());
  if (!DispatcherTurn(*place.turn, place.promise)
           .grant({slice, depth, next.in_flight, next.cost_limit, next.gives_back && !alone,
                   device_.rules.sampling})) {
    report_broken(id, place, "withdrew its wish for the device", now);
    return false;
  }
  leave(id, place, now);
  device_.memory.grant(place, others_lack_memory(place), device_.places);
  device_.charges.accounts().at(place.tenant).waits.add(now - place.waiting_since, now);
  TurnInProgress& turn = device_.turn.emplace(TurnInProgress{.place = id,
                                                             .commands = commands,
                                                             .wanted = place.waiting_since,
                                                             .slice = slice,
                                                             .granted = now,
                                                             .traced_from = traced_from,
                                                             .charged_until = now,
                                                             .promised = next.promised,
                                                             .in_flight = next.in_flight});
  if (by_clock) {
    turn.ends = now + next.slice;
  } else if (endless) {
    turn.ends = now;
  }
  turn.must_end = next.bounded;
  if (!endless) device_.charges.contest(turn, place, now);
  if (!alone) {
    deadline_ = turn.ends.value_or(now + kPatience);
  } else if (next.bounded) {
    deadline_ = turn.ends.value_or(now + next.slice + kPatience);
  }
  policy_->begin(place.tenant, now);
  plan_review(now);
  place.wake();
  if (next.switch_in && !endless) place.switch_in();
  return true;
}

}  // namespace fairgv::daemon
