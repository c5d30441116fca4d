// The cost of turns, and of use without one.
//
// While a turn lasts, its worker's report is charged. At its end, and for what no worker reports any more,
// the daemon's own clock decides (turn_cost.hpp).
#include <algorithm>
#include <utility>

#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/daemon/dispatch/turn_cost.hpp"

namespace fairgv::daemon {

/// Charges what the worker has measured since the last time; false if it broke the protocol.
bool Dispatcher::charge(PlaceId id, Session& session, Time now) {
  // Relaxed: ordered by the acquiring look at the state, when the turn is over; a running turn may report a
  // little later. Read once: it is shared memory.
  const std::uint64_t used_ns = session.turn->used_ns.load(std::memory_order_relaxed);
  if (used_ns < session.used_ns) {
    report_broken(id, session, "reported less device time than before", now);
    return false;
  }
  const Duration left = (now - turn_->granted) - turn_->charged;
  const auto limit = static_cast<std::uint64_t>(std::max(left, Duration(0)).count());
  const Duration used(std::min(used_ns - session.used_ns, limit));
  session.used_ns = used_ns;
  if (used == Duration(0)) return true;
  turn_->worked = true;
  book(session, used, now);
  return true;
}

/// Others wait for the turn in progress from now on, if they did not before.
void Dispatcher::contest(Time now) {
  if (turn_->contested) return;
  turn_->contested = now;
  turn_->before = turn_->charged;
  turn_->ran = ran(sessions_.at(turn_->place));
}

std::optional<Dispatcher::Duration> Dispatcher::ran(const Session& session) const {
  return processors_ > 0 && session.timer ? session.timer() : std::nullopt;
}

/// At the end of a turn: what it costs by our own clock.
void Dispatcher::charge_least(Session& session, Time now) {
  if (!turn_->contested) return;
  const Duration held = now - *turn_->contested;
  std::optional<Duration> ran_in_turn = ran(session);
  if (ran_in_turn && turn_->ran) {
    *ran_in_turn -= *turn_->ran;
  } else {
    ran_in_turn.reset();
  }
  const Duration least = turn_->before + least_cost(held, processors_, ran_in_turn);
  if (least > turn_->charged) book(session, least - turn_->charged, now);
  if (!ran_in_turn) return;
  const Duration charged = turn_->charged - turn_->before;
  excused_.add(session.tenant, least_cost(held) - charged, std::min(*ran_in_turn, charged * processors_));
}

/// The session is gone in the midst of its turn: the command that was under way has kept the device until
/// now, and nobody reports it any more.
void Dispatcher::charge_broken_off(Session& session, Time now) {
  const State state = load(session);
  if (state != State::busy && state != State::busy_asked) return;
  Duration held = turn_->charged + under_way(session, now);
  if (turn_->contested) held = std::max(held, turn_->before + (now - *turn_->contested));
  held = std::min(held, now - turn_->granted);
  if (held > turn_->charged) book(session, held - turn_->charged, now);
}

/// For how long commands have been under way of whose time nothing is in used_ns yet, as the worker says.
Dispatcher::Duration Dispatcher::under_way(const Session& session, Time now) {
  // Relaxed: beside a state that was looked at it may be of the interval before or after. Read once.
  const std::uint64_t since = session.turn->under_way_since_ns.load(std::memory_order_relaxed);
  const auto moment = static_cast<std::uint64_t>(now.time_since_epoch().count());
  return since == 0 ? Duration(0) : Duration(moment - std::min(since, moment));
}

void Dispatcher::book(Session& session, Duration used, Time now) {
  Tenant& tenant = tenants_.at(session.tenant);
  tenant.device_time += used;
  tenant.in_turns += used;
  session.charged += used;
  if (unwanted_since_) used_unwanted_ += used;
  tenant.window.add(turn_->charged_until, now, used);
  policy_->charge(session.tenant, used, now);
  turn_->charged += used;
  turn_->charged_until = now;
}

std::optional<Dispatcher::Duration> Dispatcher::paid(PlaceId id, Time now) {
  const Session* const session = find(id);
  if (session == nullptr || !session->user) return std::nullopt;
  if (!turn_ || turn_->place != id) return session->charged;
  const State state = load(*session);
  if (state != State::busy && state != State::busy_asked) return session->charged;
  const Duration open = turn_->contested ? now - turn_->charged_until : under_way(*session, now);
  return session->charged + std::min(open, (now - turn_->granted) - turn_->charged);
}

void Dispatcher::charge_later(TenantId id, Duration used, Time from, Time now) {
  const auto found = tenants_.find(id);
  if (found == tenants_.end()) return;
  found->second.device_time += used;
  found->second.window.add(from, now, used);
  policy_->charge(id, used, now);
}

void Dispatcher::charge_outside(TenantId id, Duration used, Time from, Time now) {
  charge_later(id, used, from, now);
  if (const auto found = tenants_.find(id); found != tenants_.end()) found->second.outside += used;
}

std::unordered_map<TenantId, double> Dispatcher::shares() const {
  std::optional<TenantId> user;
  if (turn_) {
    const Session& holder = sessions_.at(turn_->place);
    const State state = load(holder);
    if (state == State::busy || state == State::busy_asked) user = holder.tenant;
  }
  const auto uses = [&](TenantId id, const Tenant& tenant) {
    return tenant.in_turns > Duration(0) || !tenant.waiting.empty() || user == id;
  };
  double weights = 0;
  for (const auto& [id, tenant] : tenants_) weights += uses(id, tenant) ? tenant.attributes.weight : 0;
  std::unordered_map<TenantId, double> shares;
  for (const auto& [id, tenant] : tenants_) {
    if (tenant.sessions.empty()) continue;
    const double own = tenant.attributes.weight;
    shares[id] = own / (uses(id, tenant) ? weights : weights + own);
  }
  return shares;
}

void Dispatcher::begin_activity() {
  for (auto& [id, tenant] : tenants_) tenant.in_turns = Duration(0);
}

void Dispatcher::condemn(PlaceId id, const std::string& reason, Time now) {
  if (Session* const session = find(id)) report_broken(id, *session, reason, now);
}

}  // namespace fairgv::daemon
