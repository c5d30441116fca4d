#include "runtime/daemon/dispatch/dispatcher.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fairgv::daemon {

using session::TurnState;

void Dispatcher::add_tenant(TenantId id, const sched::TenantAttributes& attributes, Time now) {
  if (accounts().add(id, attributes)) arbiter_.policy().add(id, attributes, now);
}

void Dispatcher::set_attributes(TenantId id, const sched::TenantAttributes& attributes, Time now) {
  TenantAccount* const account = accounts().find(id);
  if (account == nullptr) return;
  account->wanted_max = attributes.max;
  sched::TenantAttributes in_force = attributes;
  in_force.max = account->cap.value_or(attributes.max);
  if (account->attributes == in_force) return;
  charge_holder(now);  // use so far counts with the old weight
  account->attributes = in_force;
  arbiter_.policy().set_attributes(id, in_force, now);
  arbiter_.attributes_changed(now);
}

void Dispatcher::restore_books(TenantId id, const TenantBooks& books, Time now) {
  accounts().at(id).restore(books);
  arbiter_.policy().restore(id, books.budget, now);
}

TenantBooks Dispatcher::books(TenantId id, Time now) {
  charge_holder(now);
  TenantAccount* const account = accounts().find(id);
  if (account == nullptr) return {};
  account->budget.update(arbiter_.policy().budget(id, now));
  return account->books();
}

void Dispatcher::forget_tenant(TenantId id, Time now) {
  arbiter_.policy().remove(id, now);
  accounts().forget(id);
}

void Dispatcher::add_place(PlaceId id, TenantId tenant, const SessionPages& pages, Time now,
                           WorkerHandle worker) {
  places().add(id, SessionPlace{.tenant = tenant,
                                .turn = &pages.turn,
                                .promise = pages.promise,
                                .memory = pages.residency == nullptr
                                              ? std::nullopt
                                              : std::optional(session::ResidencyLender(*pages.residency)),
                                .header = &pages.header,
                                .work = ClaimedWork(now),
                                .worker = std::move(worker),
                                .turns = pages.turns});
}

void Dispatcher::add_session(PlaceId id, TenantId tenant, const SessionPages& pages, Time now,
                             WorkerHandle worker) {
  add_place(id, tenant, pages, now, std::move(worker));
  arbiter_.device().memory.begin(places().at(id));
}

void Dispatcher::adopt_session(PlaceId id, TenantId tenant, const SessionPages& pages, std::uint64_t used_ns,
                               Time now, const WorkCounters& work, const std::optional<TurnBooks>& books,
                               WorkerHandle worker) {
  add_place(id, tenant, pages, now, std::move(worker));
  SessionPlace& place = places().at(id);
  arbiter_.device().memory.adopt(place);
  place.work = ClaimedWork(now, work);
  place.used_ns = used_ns;
  const TurnState state = place.state();
  places().count_user(place, used_ns != 0 || state != TurnState::idle);
  if (state != TurnState::idle) arbiter_.adopt(id, place, state, books, now);
}

void Dispatcher::remove_session(PlaceId id, Time now) {
  SessionPlace* const place = places().find(id);
  if (place == nullptr) return;
  const TenantId tenant = place->tenant;
  const bool has_turn = end_wish(id, *place, now);
  accounts().at(tenant).ended += place->look_at_work(now);
  places().remove(id);
  arbiter_.settle(tenant, has_turn, now);
  arbiter_.look_at_memory(now);
}

void Dispatcher::change_worker(PlaceId id, WorkerHandle worker, Time now) {
  SessionPlace* const place = places().find(id);
  if (place == nullptr) return;
  const bool has_turn = end_wish(id, *place, now);
  place->turn->state.store(static_cast<std::uint32_t>(TurnState::idle), std::memory_order_release);
  place->worker = std::move(worker);
  arbiter_.device().memory.begin(*place);
  arbiter_.settle(place->tenant, has_turn, now);
}

/// The place neither has the turn nor waits for it any more; returns whether it had the turn.
bool Dispatcher::end_wish(PlaceId id, SessionPlace& place, Time now) {
  const bool has_turn = arbiter_.has_turn(id);
  if (has_turn || arbiter_.is_interrupted(id)) arbiter_.break_off(id, place, now);
  if (place.waiting) arbiter_.leave(id, place, now);
  return has_turn;
}

void Dispatcher::look(PlaceId id, Time now) {
  SessionPlace* const place = places().find(id);
  if (place == nullptr || place->broken) return;
  look_at_turn(id, *place, now);
  arbiter_.look_at_memory(now);
}

void Dispatcher::look_at_turn(PlaceId id, SessionPlace& place, Time now) {
  if (arbiter_.is_interrupted(id)) return;  // until its turn goes on
  if (arbiter_.has_turn(id)) return arbiter_.look_at_holder(place, now);
  switch (place.state()) {
    case TurnState::wanting:
      if (!place.waiting && !place.suspended) arbiter_.want(id, place, now);
      return;
    case TurnState::idle:
      if (!place.waiting) return;
      arbiter_.report_broken(id, place, "withdrew its wish for the device", now);
      return;
    default:
      arbiter_.report_broken(id, place, "took the device without a turn", now);
  }
}

void Dispatcher::set_suspended(PlaceId id, bool suspended, Time now) {
  SessionPlace* const place = places().find(id);
  if (place == nullptr || place->suspended == suspended) return;
  if (suspended) return arbiter_.suspend(id, *place, now);
  place->suspended = false;
  places().count_user(*place, place->used_ns != 0 || arbiter_.has_turn(id));
  arbiter_.tell_company();
  // A session that still has its turn was asked for it, and lines up again when it has given the turn back.
  look(id, now);
  // The wait from before the pause counts; the pause itself does not.
  const Duration waited = std::exchange(place->waited, {});
  if (place->waiting) place->waiting_since -= waited;
}

void Dispatcher::condemn(PlaceId id, const std::string& reason, Time now) {
  if (SessionPlace* const place = places().find(id)) arbiter_.report_broken(id, *place, reason, now);
}

void Dispatcher::expire(std::span<const HostTold> tick, Time now) {
  std::vector<HostTold> known;
  std::copy_if(tick.begin(), tick.end(), std::back_inserter(known),
               [this](const HostTold& each) { return accounts().knows(each.tenant); });
  arbiter_.hear_of_host(known, now);
  arbiter_.expire(now);
}

WorkCounters Dispatcher::work(PlaceId id, Time now) {
  SessionPlace* const place = places().find(id);
  return place == nullptr ? WorkCounters{} : place->look_at_work(now);
}

}  // namespace fairgv::daemon
