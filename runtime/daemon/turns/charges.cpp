#include "runtime/daemon/turns/charges.hpp"

#include <algorithm>

#include "runtime/daemon/turns/turn_cost.hpp"

namespace fairgv::daemon {

bool Charges::charge_reported(TurnInProgress& turn, SessionPlace& place, Time now) {
  // Relaxed: ordered by the acquiring look at the state when the turn is over; the report on a running turn
  // may be a little late. Read once: it is shared memory.
  const std::uint64_t used_ns = place.turn->used_ns.load(std::memory_order_relaxed);
  if (used_ns < place.used_ns) return false;
  const auto limit = static_cast<std::uint64_t>(std::max(turn.open(now), Duration(0)).count());
  const Duration used(std::min(used_ns - place.used_ns, limit));
  place.used_ns = used_ns;
  if (used == Duration(0)) return true;
  turn.worked = true;
  book(turn, place, used, now);
  return true;
}

void Charges::contest(TurnInProgress& turn, const SessionPlace& place, Time now) {
  if (!turn.contested) turn.contest(now, ran(place));
}

std::optional<Charges::Duration> Charges::ran(const SessionPlace& place) const {
  return processors_ > 0 && place.worker.ran ? place.worker.ran() : std::nullopt;
}

void Charges::charge_least(TurnInProgress& turn, SessionPlace& place, Time now) {
  if (!turn.contested) return;
  const Duration held = now - *turn.contested;
  std::optional<Duration> ran_in_turn = ran(place);
  if (ran_in_turn && turn.ran) {
    *ran_in_turn -= *turn.ran;
  } else {
    ran_in_turn.reset();
  }
  const Duration least =
      turn.before + (place.worker.is_program ? held : least_cost(held, processors_, ran_in_turn));
  if (least > turn.charged) book(turn, place, least - turn.charged, now);
  if (!ran_in_turn) return;
  const Duration charged = turn.charged - turn.before;
  excused_.add(place.tenant, least_cost(held) - charged, std::min(*ran_in_turn, charged * processors_));
}

void Charges::charge_broken_off(TurnInProgress& turn, SessionPlace& place, Time now) {
  if (!place.is_busy()) return;
  Duration held = turn.charged + place.under_way(now);
  if (turn.contested) held = std::max(held, turn.before + (now - *turn.contested));
  held = std::min(held, now - turn.granted);
  if (held > turn.charged) book(turn, place, held - turn.charged, now);
}

void Charges::set_wanted(bool wanted, Time now) {
  if (wanted) {
    rest_.stop();
  } else {
    rest_.start(now);
  }
}

void Charges::tell_rest(Time now) {
  const Duration free = rest_.take(now);
  if (free > Duration(0)) policy_->rest(free, now);
}

void Charges::book(TurnInProgress& turn, SessionPlace& place, Duration used, Time now) {
  TenantAccount& account = accounts_.at(place.tenant);
  account.charge(used, turn.charged_until, now);
  account.in_turns += used;
  place.charged += used;
  rest_.note_use(used);
  policy_->charge(place.tenant, used, now);
  turn.note_charge(used, now);
}

void Charges::charge_later(TenantId id, Duration used, Time from, Time now) {
  TenantAccount* const account = accounts_.find(id);
  if (account == nullptr) return;
  account->charge(used, from, now);
  policy_->charge(id, used, now);
}

void Charges::charge_outside(TenantId id, Duration used, Time from, Time now) {
  charge_later(id, used, from, now);
  if (TenantAccount* const account = accounts_.find(id)) account->outside += used;
}

}  // namespace fairgv::daemon
