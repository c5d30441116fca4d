#include "runtime/daemon/dispatch/dispatcher.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sched/turn_plan.hpp"

namespace fairgv::daemon {

using session::DeviceTurn;
using session::DispatcherTurn;
using session::TurnState;

// -- policy

void Dispatcher::set_policy(std::unique_ptr<sched::Policy> policy, Time now) {
  charge_holder(now);
  stop_keeping(now);
  policy_ = std::move(policy);
  for (const auto& [id, tenant] : tenants_) {
    policy_->add(id, tenant.attributes, now);
    if (!tenant.waiting.empty()) policy_->wake(id, now);
  }
  if (turn_) {
    const TenantId holder = sessions_.at(turn_->place).tenant;
    policy_->wake(holder, now);
    policy_->begin(holder, now);
  } else {
    grant_next(now);
  }
}

// -- tenants

void Dispatcher::add_tenant(TenantId id, std::uint32_t weight, Time now) {
  const auto [added, is_new] = tenants_.try_emplace(id);
  if (!is_new) return;
  added->second.attributes.weight = weight;
  policy_->add(id, added->second.attributes, now);
}

void Dispatcher::set_weight(TenantId id, std::uint32_t weight, Time now) {
  const auto found = tenants_.find(id);
  if (found == tenants_.end()) return;
  charge_holder(now);  // what was used so far counts with the old weight
  found->second.attributes.weight = weight;
  policy_->set_attributes(id, found->second.attributes, now);
}

bool Dispatcher::may_forget(TenantId id) const {
  const auto found = tenants_.find(id);
  return found == tenants_.end() || (found->second.sessions.empty() && policy_->may_forget(id));
}

void Dispatcher::forget_tenant(TenantId id, Time now) {
  policy_->remove(id, now);
  tenants_.erase(id);
}

// -- sessions

void Dispatcher::add_session(PlaceId id, TenantId tenant, DeviceTurn& turn, ring::SegmentHeader& header,
                             Time now, ProcessorTimer ran) {
  sessions_[id] = Session{
      .tenant = tenant, .turn = &turn, .header = &header, .work = ClaimedWork(now), .timer = std::move(ran)};
  tenants_.at(tenant).sessions.push_back(id);
}

void Dispatcher::adopt_session(PlaceId id, TenantId tenant, DeviceTurn& turn, ring::SegmentHeader& header,
                               std::uint64_t used_ns, Time now, const WorkCounters& work,
                               const std::optional<TurnBooks>& books, ProcessorTimer ran) {
  add_session(id, tenant, turn, header, now, std::move(ran));
  Session& session = sessions_.at(id);
  session.work = ClaimedWork(now, work);
  session.used_ns = used_ns;
  count_user(session, used_ns != 0);
  const State state = load(session);
  if (state == State::idle) return;
  count_user(session, true);
  if (state == State::wanting) {
    line_up(id, session, now);
    policy_->wake(tenant, now);
    return;
  }
  if (turn_) {
    // Both pages say that they have it, and pages say what workers write: the dispatcher before knew better.
    const bool is_owner = books && !turn_->known_before;
    const PlaceId other = is_owner ? turn_->place : id;
    report_broken(other, sessions_.at(other), "took the device without a turn", now);
    if (!is_owner) return;
  }
  // Relaxed: the dispatcher before wrote it, and a worker that did since only shortens or lengthens its turn.
  const bool endless = turn.slice_ns.load(std::memory_order_relaxed) == 0;
  turn_ = Turn{.place = id,
               .commands = turn.commands.load(std::memory_order_relaxed),
               .wanted = now,
               .slice = Duration(0),
               .granted = now,
               .charged_until = now,
               .asked = state == State::busy_asked,
               .known_before = books.has_value()};
  if (books) {
    turn_->granted = std::min(books->granted, now);
    turn_->charged_until = turn_->granted;
    turn_->charged = books->charged;
    turn_->contested = books->contested;
    turn_->before = books->before;
  }
  if (endless) turn_->ends = now;
  policy_->wake(tenant, now);
}

void Dispatcher::resume(Time now) {
  if (!turn_) return grant_next(now);
  policy_->begin(sessions_.at(turn_->place).tenant, now);
  if (waiting_ == 0) return;
  contest(now);
  deadline_ = now + kPatience;
}

std::uint64_t Dispatcher::charged_ns(PlaceId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? 0 : found->second.used_ns;
}

std::optional<TurnBooks> Dispatcher::turn_books(PlaceId id) const {
  if (!turn_ || turn_->place != id) return std::nullopt;
  return TurnBooks{turn_->granted, turn_->contested, turn_->charged, turn_->before};
}

TenantBooks Dispatcher::books(TenantId id) const {
  const Tenant& tenant = tenants_.at(id);
  return {tenant.device_time, tenant.outside, tenant.ended, tenant.waits.all()};
}

void Dispatcher::restore_books(TenantId id, const TenantBooks& books) {
  Tenant& tenant = tenants_.at(id);
  tenant.device_time = books.device_time;
  tenant.outside = books.outside;
  tenant.ended = books.ended;
  tenant.waits.restore(books.waits);
}

void Dispatcher::remove_session(PlaceId id, Time now) {
  Session* const session = find(id);
  if (session == nullptr) return;
  const TenantId tenant_id = session->tenant;
  Tenant& tenant = tenants_.at(tenant_id);
  const bool has_turn = turn_ && turn_->place == id;
  if (has_turn) {
    charge(id, *session, now);
    charge_broken_off(*session, now);
    charge_least(*session, now);
    forget_turn(now);
    policy_->end(tenant_id, now);
  }
  if (session->waiting) stop_waiting(id, *session, now);
  count_user(*session, false);
  tenant.ended += session->work.look(*session->turn, now);
  std::erase(tenant.sessions, id);
  sessions_.erase(id);
  if (turn_) tell_company(sessions_.at(turn_->place));
  const bool kept = kept_for_ == tenant_id && tenant.sessions.empty();
  if (kept) stop_keeping(now);
  block_if_idle(tenant_id, now);
  if (has_turn || kept) grant_next(now);
}

void Dispatcher::look(PlaceId id, Time now) {
  Session* const session = find(id);
  if (session == nullptr || session->broken) return;
  if (turn_ && turn_->place == id) {
    look_at_holder(*session, now);
    return;
  }
  switch (load(*session)) {
    case State::wanting:
      if (!session->waiting && !session->suspended) start_waiting(id, *session, now);
      return;
    case State::idle:
      if (!session->waiting) return;
      report_broken(id, *session, "withdrew its wish for the device", now);
      return;
    default:
      report_broken(id, *session, "took the device without a turn", now);
  }
}

void Dispatcher::expire(Time now) {
  if (!deadline_ || now < *deadline_) return;
  deadline_.reset();
  if (!turn_) {
    stop_keeping(now);
    grant_next(now);
  } else if (waiting_ > 0 || sessions_.at(turn_->place).suspended) {
    reclaim_turn(now);
  }
}

std::optional<Dispatcher::Window> Dispatcher::end_expected() const {
  if (!turn_ || turn_->ends || turn_->slice == Duration(0)) return std::nullopt;
  if (waiting_ == 0 || waiting_ > kMostWaitingAwake) return std::nullopt;
  const Session& session = sessions_.at(turn_->place);
  // Relaxed: the worker's hint, which makes this thread poll in its own turns and no longer.
  if (session.header->coscheduling.device_apart.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const Time ends = turn_->granted + turn_->slice;
  return Window{ends - turn_->slice / sched::TurnPlan::kWorthwhileFraction,
                ends + turn_->slice / kEndsLaterBy};
}

void Dispatcher::announce_next(Time now) {
  const auto window = end_expected();
  if (!window || now < window->from || std::exchange(turn_->announced, true)) return;
  charge_holder(now);  // the policy must know what it has used
  const sched::Decision decision = policy_->next(now);
  if (!decision.turn) return;
  const auto& waiting = tenants_.at(decision.turn->tenant).waiting;
  if (waiting.empty()) return;  // the holder again
  const Session& next = sessions_.at(waiting.front());
  next.turn->due.fetch_add(1, std::memory_order_relaxed);
  ring::ring(next.header->worker_bell);
}

// -- looking

Dispatcher::Duration Dispatcher::slice() const {
  const bool holder_counts = turn_ && tenants_.at(sessions_.at(turn_->place).tenant).waiting.empty();
  return slices_.of(wanting_ + (holder_counts ? 1 : 0));
}

std::optional<SessionId> Dispatcher::holder() const {
  if (!turn_) return std::nullopt;
  return turn_->place.session;
}

std::optional<PlaceId> Dispatcher::holding_place() const {
  if (!turn_) return std::nullopt;
  return turn_->place;
}

TurnState Dispatcher::state(PlaceId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? State::idle : load(found->second);
}

Dispatcher::Duration Dispatcher::recent_device_time(TenantId id, Time now) const {
  UsageWindow window = tenants_.at(id).window;
  if (turn_) {
    const Session& session = sessions_.at(turn_->place);
    const State state = load(session);
    if (session.tenant == id && (state == State::busy || state == State::busy_asked)) {
      window.add(turn_->charged_until, now, now - turn_->charged_until);
    }
  }
  return window.within(now);
}

session::CompileClock Dispatcher::compile_clock(PlaceId id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return {};
  return session::CompileClock(found->second.turn->compile_clock.load(std::memory_order_relaxed));
}

const char* Dispatcher::waits_for(PlaceId id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return "";
  return session::name_of_wait(found->second.turn->waits_for.load(std::memory_order_relaxed));
}

bool Dispatcher::interactive(PlaceId id) const {
  const auto found = sessions_.find(id);
  return found != sessions_.end() && found->second.turn->interactive_cpu.load(std::memory_order_relaxed) != 0;
}

DeviceUse Dispatcher::use(TenantId id, Time now) {
  const Tenant& tenant = tenants_.at(id);
  const WaitHistogram recent = tenant.waits.recent(now);
  DeviceUse use{.device_time = tenant.device_time,
                .outside = tenant.outside,
                .recent = recent_device_time(id, now),
                .work = tenant.ended,
                .waits = tenant.waits.all(),
                .wait_p50 = recent.quantile(0.5),
                .wait_p99 = recent.quantile(0.99),
                .queue = static_cast<std::uint32_t>(tenant.waiting.size())};
  for (const PlaceId member : tenant.sessions) {
    use.work += work(member, now);
    if (interactive(member)) use.interactive += 1;
    const State now_in = state(member);
    if (now_in == State::busy || now_in == State::busy_asked) use.queue += 1;
  }
  return use;
}

WorkCounters Dispatcher::work(PlaceId id, Time now) {
  Session* const session = find(id);
  return session == nullptr ? WorkCounters{} : session->work.look(*session->turn, now);
}

void Dispatcher::charge_holder(Time now) {
  // Looked at first: all that was used by then is in used_ns. While a command runs, it is not known since
  // when.
  const bool rests = unwanted_since_ && (!turn_ || load(sessions_.at(turn_->place)) == State::held);
  if (turn_) charge(turn_->place, *find(turn_->place), now);
  if (!rests) return;
  const Duration free = now - *std::exchange(unwanted_since_, now) - std::exchange(used_unwanted_, {});
  if (free > Duration(0)) policy_->rest(free, now);
}

// -- inside

TurnState Dispatcher::load(const Session& session) {
  return DispatcherTurn(*session.turn).look();
}

Dispatcher::Session* Dispatcher::find(PlaceId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

void Dispatcher::report_broken(PlaceId id, Session& session, const std::string& reason, Time now,
                               bool held_too_long) {
  if (session.broken) return;
  session.broken = true;
  if (session.waiting) {
    stop_waiting(id, session, now);
    block_if_idle(session.tenant, now);
  }
  broken_.push_back({id.session, "the worker " + reason, held_too_long});
}

void Dispatcher::look_at_holder(Session& session, Time now) {
  const State state = load(session);
  switch (state) {
    case State::idle:
    case State::wanting:
      end_turn(session, state, now);
      return;
    case State::held:
    case State::busy:
      return;
    case State::busy_asked:
      if (turn_->asked) return;
      break;
  }
  report_broken(turn_->place, session, "put its turn into a state that the protocol does not have", now);
}

void Dispatcher::start_waiting(PlaceId id, Session& session, Time now) {
  // Before the newcomer is compared with the holder: the policy must know what the holder has used.
  charge_holder(now);
  line_up(id, session, now);
  count_user(session, true);
  policy_->wake(session.tenant, now);
  if (turn_) {
    contest(now);
    if (const auto from = policy_->preempts(session.tenant, sessions_.at(turn_->place).tenant, now)) {
      turn_->ends = std::min(turn_->ends.value_or(Time::max()), std::max(*from, now));
    }
    reclaim_turn(now);
  } else if (!kept_for_ || *kept_for_ == session.tenant ||
             policy_->preempts(session.tenant, *kept_for_, now).value_or(Time::max()) <= now) {
    stop_keeping(now);
    grant_next(now);
  }
}

void Dispatcher::line_up(PlaceId id, Session& session, Time now) {
  session.waiting = true;
  session.waiting_since = now;
  ++waiting_;
  unwanted_since_.reset();
  auto& waiting = tenants_.at(session.tenant).waiting;
  if (waiting.empty()) ++wanting_;
  waiting.push_back(id);
}

void Dispatcher::stop_waiting(PlaceId id, Session& session, Time now) {
  auto& waiting = tenants_.at(session.tenant).waiting;
  std::erase(waiting, id);
  if (waiting.empty()) --wanting_;
  session.waiting = false;
  if (--waiting_ > 0) return;
  unwanted_since_ = now;
  used_unwanted_ = Duration(0);
  if (turn_) turn_->obstructs_since.reset();
}

void Dispatcher::count_user(Session& session, bool user) {
  if (std::exchange(session.user, user) == user) return;
  std::uint32_t& users = tenants_.at(session.tenant).users;
  if (user) {
    if (++users == 1) ++users_;
  } else {
    if (--users == 0) --users_;
  }
}

/// Whether the device is shared, for sessions that are about to use it.
void Dispatcher::tell_company(const Session& session) const {
  session.turn->company.store(users_ > 1 ? 1 : 0, std::memory_order_relaxed);
}

void Dispatcher::block_if_idle(TenantId id, Time now) {
  const bool holds = (turn_ && sessions_.at(turn_->place).tenant == id) || kept_for_ == id;
  if (holds || !tenants_.at(id).waiting.empty()) return;
  policy_->block(id, now);
}

void Dispatcher::stop_keeping(Time now) {
  if (!kept_for_) return;
  const TenantId id = *std::exchange(kept_for_, std::nullopt);
  block_if_idle(id, now);
}

/// Somebody waits, or the holder is suspended: sees to it that the turn comes to an end. Called when that
/// begins and then, as long as it is so, every kPatience.
void Dispatcher::reclaim_turn(Time now) {
  if (turn_->ends && now < *turn_->ends) {
    deadline_ = turn_->ends;
    return;
  }
  const PlaceId id = turn_->place;
  Session& session = *find(id);
  deadline_ = now + kPatience;
  if (session.broken) return;  // remove_session() ends its turn
  if (waiting_ > 0) watch_obstruction(session, now);
  // The worker may move between our look and our move, any number of times; a few tries are enough for an
  // honest one, and a busy one is asked again after the patience.
  for (int attempt = 0; attempt < 16; ++attempt) {
    const State state = load(session);
    if (state == State::held) {
      // A turn of limited length is given back by itself; one that lies unused for long is not.
      const bool leave = turn_->ends ? fresh(session, now) : now < turn_->granted + kPatience;
      if (leave) {
        deadline_ = turn_->granted + (turn_->ends ? Duration(kFreshGrant) : Duration(kPatience));
        return;
      }
      if (DispatcherTurn(*session.turn).take_back()) {
        turn_->taken_back = true;
        return end_turn(session, State::idle, now);
      }
    } else if (state == State::busy && turn_->ends) {
      turn_->asked = DispatcherTurn(*session.turn).ask();
      if (turn_->asked) return;
    } else {
      return look_at_holder(session, now);
    }
  }
}

/// The watchdog. What the worker has done since does not matter: honest ones give back within a slice, unless
/// a single command lasts longer.
void Dispatcher::watch_obstruction(Session& session, Time now) {
  if (!turn_->obstructs_since) turn_->obstructs_since = now;
  const State state = load(session);
  if (state != State::busy && state != State::busy_asked) return;
  if (hold_limit_ == Duration(0) || now - *turn_->obstructs_since <= hold_limit_) return;
  const double seconds = std::chrono::duration<double>(hold_limit_).count();
  report_broken(
      turn_->place, session,
      fmt::format("held a device for more than {:g} s while others waited for it (hold_limit_s)", seconds),
      now, true);
}

bool Dispatcher::fresh(const Session& session, Time now) const {
  return now < turn_->granted + kFreshGrant &&
         session.turn->commands.load(std::memory_order_relaxed) == turn_->commands;
}

/// The turn came back: the state is idle or wanting. Charges it and finds the next.
void Dispatcher::end_turn(Session& session, State state, Time now) {
  const PlaceId id = turn_->place;
  const bool honest = charge(id, session, now);
  charge_least(session, now);
  const bool paused =
      state == State::idle && honest && !session.suspended && !turn_->taken_back && turn_->worked;
  forget_turn(now);
  policy_->end(session.tenant, now);
  if (state == State::wanting && honest && !session.suspended) line_up(id, session, now);
  const Tenant& tenant = tenants_.at(session.tenant);
  if (paused && tenant.waiting.empty() && !tenant.sessions.empty()) {
    if (const auto until = policy_->pause(session.tenant, now)) {
      kept_for_ = session.tenant;
      deadline_ = until;
      return;
    }
  }
  block_if_idle(session.tenant, now);
  grant_next(now);
}

TracedTurn Dispatcher::traced(Time now, bool over) const {
  return {turn_->place.session, turn_->place.device, turn_->wanted, turn_->granted, now,
          turn_->charged,       turn_->slice,        over};
}

void Dispatcher::forget_turn(Time now) {
  if (tracing_ && traced_.size() < kMostTracedTurns) {
    traced_.push_back(traced(now, true));
  } else if (tracing_) {
    ++traced_lost_;
  }
  turn_.reset();
}

void Dispatcher::trace(bool on) {
  tracing_ = on;
  traced_ = {};
  traced_lost_ = 0;
}

std::vector<TracedTurn> Dispatcher::take_traced(Time now, std::uint64_t& lost) {
  auto turns = std::exchange(traced_, {});
  lost += std::exchange(traced_lost_, 0);
  if (tracing_ && turn_) turns.push_back(traced(now, false));
  return turns;
}

void Dispatcher::grant_next(Time now) {
  deadline_.reset();
  while (waiting_ > 0) {
    policy_->set_slice(slices_.of(wanting_));
    const sched::Decision decision = policy_->next(now);
    if (!decision.turn) {
      deadline_ = decision.ask_again;
      return;
    }
    const PlaceId id = tenants_.at(decision.turn->tenant).waiting.front();
    if (grant(id, *find(id), *decision.turn, now)) return;
  }
}

bool Dispatcher::grant(PlaceId id, Session& session, const sched::Turn& next, Time now) {
  const bool alone = waiting_ == 1;
  const bool by_clock = next.end == sched::TurnEnd::clock;
  DeviceTurn& turn = *session.turn;
  // Read before the grant: afterwards the worker may count on.
  const std::uint64_t commands = turn.commands.load(std::memory_order_relaxed);
  const Duration slice = alone || by_clock ? Duration(0) : next.slice;
  tell_company(session);
  if (!DispatcherTurn(turn).grant({slice, by_clock ? sched::kDriverQueue : 0})) {
    report_broken(id, session, "withdrew its wish for the device", now);
    return false;
  }
  stop_waiting(id, session, now);
  tenants_.at(session.tenant).waits.add(now - session.waiting_since, now);
  turn_ = Turn{.place = id,
               .commands = commands,
               .wanted = session.waiting_since,
               .slice = slice,
               .granted = now,
               .charged_until = now};
  if (by_clock) {
    turn_->ends = now + next.slice;
  } else if (alone) {
    turn_->ends = now;
  }
  if (!alone) {
    contest(now);
    deadline_ = turn_->ends.value_or(now + kPatience);
  }
  policy_->begin(session.tenant, now);
  ring::ring(session.header->worker_bell);
  if (slice > Duration(0)) switch_in(session);
  return true;
}

/// GPU-centric coscheduling (FairGV, section 3.2.3, algorithms 3 and 4): the threads of an interactive
/// program wake up together with its worker, so that both sides of it run while it has the device.
void Dispatcher::switch_in(const Session& session) {
  // Relaxed, and read once: the worker's hint, with which it can only wake its own client.
  const std::uint32_t cpu = session.turn->interactive_cpu.load(std::memory_order_relaxed);
  if (cpu == 0) return;
  session.header->coscheduling.switch_in();
  ring::ring_on_cpu(session.header->completion_bell, cpu - 1);
}

}  // namespace fairgv::daemon
