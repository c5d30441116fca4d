#include "runtime/daemon/turns/place.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::daemon {

using session::TurnState;

TurnState SessionPlace::state() const {
  return session::DispatcherTurn(*turn).look();
}

const WorkCounters& SessionPlace::look_at_work(sched::Time now) {
  // Relaxed, and read once: shared memory, and no order is needed. One of the two stands still; a sum that
  // wraps is a lie that stays within the bounds of one.
  const std::uint64_t ends = promise == nullptr ? 0 : promise->units.load(std::memory_order_relaxed);
  const std::uint64_t calls = header->coscheduling.ended_calls.load(std::memory_order_relaxed);
  return work.look(*turn, now, ends + calls);
}

bool SessionPlace::is_busy() const {
  const TurnState now = state();
  return now == TurnState::busy || now == TurnState::busy_asked;
}

bool SessionPlace::interactive() const {
  return turn->interactive_cpu.load(std::memory_order_relaxed) != 0;
}

const char* SessionPlace::waits_for() const {
  return session::name_of_wait(turn->waits_for.load(std::memory_order_relaxed));
}

session::CompileClock SessionPlace::compile_clock() const {
  return session::CompileClock(turn->compile_clock.load(std::memory_order_relaxed));
}

sched::Duration SessionPlace::next_cost() const {
  if (promise == nullptr) return sched::Duration(0);
  // Relaxed: stored before the state that was seen. Read once. A lie is believed up to a bound, and only
  // decides when its own session goes on.
  const std::uint64_t cost = promise->next_cost_ns.load(std::memory_order_relaxed);
  return sched::Duration(
      static_cast<sched::Duration::rep>(std::min(cost, static_cast<std::uint64_t>(kMostPredicted.count()))));
}

sched::Duration SessionPlace::under_way(sched::Time now) const {
  // Relaxed: it may be of the interval before or after a state that was read beside it. Read once.
  const std::uint64_t since = turn->under_way_since_ns.load(std::memory_order_relaxed);
  const auto moment = static_cast<std::uint64_t>(now.time_since_epoch().count());
  return since == 0 ? sched::Duration(0) : sched::Duration(moment - std::min(since, moment));
}

bool SessionPlace::stand_still() const {
  if (!worker.stop || promise == nullptr || broken || !is_busy()) return false;
  const bool elsewhere = std::any_of(turns.begin(), turns.end(), [this](session::DeviceTurn& each) {
    const TurnState now = session::DispatcherTurn(each).look();
    return &each != turn && now != TurnState::idle && now != TurnState::wanting;
  });
  return !elsewhere && worker.stop(true);
}

void SessionPlace::let_go(sched::Duration pause) const {
  // Relaxed: the signal orders it. Only this side writes it.
  const std::uint64_t so_far = promise->paused_ns.load(std::memory_order_relaxed);
  promise->paused_ns.store(so_far + static_cast<std::uint64_t>(pause.count()), std::memory_order_relaxed);
  worker.stop(false);
}

void SessionPlace::tell_company(bool shared) const {
  turn->company.store(shared ? 1 : 0, std::memory_order_relaxed);
}

void SessionPlace::wake() const {
  ring::ring(header->worker_bell);
}

void SessionPlace::announce() const {
  turn->due.fetch_add(1, std::memory_order_relaxed);
  wake();
}

void SessionPlace::switch_in() const {
  // Relaxed, and read once: the worker's hint, which can only wake the worker's own client.
  const std::uint32_t cpu = turn->interactive_cpu.load(std::memory_order_relaxed);
  if (cpu == 0) return;
  header->coscheduling.switch_in();
  ring::ring_on_cpu(header->completion_bell, cpu - 1);
}

SessionPlace& Places::add(PlaceId id, SessionPlace place) {
  by_tenant_[place.tenant].push_back(id);
  return places_[id] = std::move(place);
}

void Places::remove(PlaceId id) {
  SessionPlace& place = places_.at(id);
  count_user(place, false);
  std::vector<PlaceId>& places = by_tenant_.at(place.tenant);
  std::erase(places, id);
  if (places.empty()) by_tenant_.erase(place.tenant);
  places_.erase(id);
}

SessionPlace* Places::find(PlaceId id) {
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : &found->second;
}

const SessionPlace* Places::find(PlaceId id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : &found->second;
}

const std::vector<PlaceId>& Places::of(TenantId tenant) const {
  static const std::vector<PlaceId> none;
  const auto found = by_tenant_.find(tenant);
  return found == by_tenant_.end() ? none : found->second;
}

bool Places::all_suspended(TenantId tenant) const {
  const auto& members = of(tenant);
  return std::all_of(members.begin(), members.end(), [this](PlaceId id) { return at(id).suspended; });
}

void Places::count_user(SessionPlace& place, bool user) {
  if (std::exchange(place.user, user) == user) return;
  users_ += user ? 1 : -1;
}

}  // namespace fairgv::daemon
