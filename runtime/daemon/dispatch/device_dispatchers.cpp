#include "runtime/daemon/dispatch/device_dispatchers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/daemon/dispatch/device_use.hpp"
#include "sched/policies/registry.hpp"

namespace fairgv::daemon {
namespace {

LendingRule lending_rule(const DeviceRule& rule, std::uint64_t bytes) {
  if (!rule.oversubscribe || bytes == 0) return {};
  return {rule.memory ? std::min(rule.memory->of(bytes), bytes) : bytes,
          rule.oversubscribe_mode == OversubscribeMode::demand, rule.oversubscribe_turn,
          rule.oversubscribe_link};
}

TurnRules turn_rules(const DeviceRule& rule, std::uint64_t bytes) {
  return {rule.slices, rule.hold_limit, rule.interrupts, rule.sampling, lending_rule(rule, bytes)};
}

}  // namespace

void DeviceDispatchers::set_rules(DeviceRules rules, Time now) {
  const DeviceRules before = std::exchange(rules_, std::move(rules));
  for (std::uint32_t device = 0; device < size(); ++device) go_by_rule(device, before.of(device), now);
}

void DeviceDispatchers::set_policy(const std::string& policy, std::optional<std::uint32_t> device, Time now) {
  const DeviceRules before = rules_;
  if (device) {
    rules_.by_index.try_emplace(hardware_[*device], rules_.common).first->second.policy = policy;
  } else {
    rules_.common.policy = policy;
    for (auto& [index, rule] : rules_.by_index) rule.policy = policy;
  }
  for (std::uint32_t index = 0; index < size(); ++index) go_by_rule(index, before.of(index), now);
}

void DeviceDispatchers::go_by_rule(std::uint32_t device, const DeviceRule& before, Time now) {
  const DeviceRule& rule = rules_.of(device);
  dispatchers_[device].set_rules(turn_rules(rule, bytes_[device]));
  if (rule.policy == before.policy) return;
  dispatchers_[device].set_policy(sched::make_policy(rule.policy, rule.slices.least), now);
}

bool DeviceDispatchers::goes_by(std::string_view policy) const {
  return rules_.common.policy == policy ||
         std::any_of(rules_.by_index.begin(), rules_.by_index.end(),
                     [policy](const auto& entry) { return entry.second.policy == policy; });
}

Dispatcher& DeviceDispatchers::add(std::uint32_t hardware, std::uint64_t bytes) {
  const DeviceRule& rule = rules_.of(size());
  hardware_.push_back(hardware);
  bytes_.push_back(bytes);
  dues_.emplace_back();
  Dispatcher& added = dispatchers_.emplace_back(sched::make_policy(rule.policy, rule.slices.least));
  added.set_rules(turn_rules(rule, bytes));
  added.log().turn_on(tracing_, std::chrono::steady_clock::now);
  return added;
}

void DeviceDispatchers::clear() {
  dispatchers_.clear();
  hardware_.clear();
  bytes_.clear();
  dues_.clear();
}

void DeviceDispatchers::trace(bool on) {
  tracing_ = on;
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.log().turn_on(on, std::chrono::steady_clock::now);
}

void DeviceDispatchers::add_session(const DispatchedSession& session, Time now) {
  for (std::size_t device = 0; device < session.devices.size(); ++device) {
    if (!session.devices.hides(device)) add_place(session, device, now);
  }
  join(session, now);
}

void DeviceDispatchers::add_place(const DispatchedSession& session, std::size_t device, Time now) {
  const PlaceId place(session.id, session.devices.host(device));
  Dispatcher& dispatcher = of(place.device);
  dispatcher.add_tenant(session.tenant, session.attributes, now);
  dispatcher.set_attributes(session.tenant, session.attributes, now);
  dispatcher.add_session(place, session.tenant, pages(session, device), now, session.worker);
  dispatcher.set_suspended(place, is_suspended_at(member_of(session), device), now);
}

void DeviceDispatchers::move_session(const DispatchedSession& session, Time now) {
  const auto found = sessions_.find(session.id);
  if (found == sessions_.end()) return;
  const Member before = std::exchange(found->second, member_of(session));
  const Member& member = found->second;
  if (!before.suspended) leave(before, now);
  for (std::size_t device = 0; device < session.devices.size(); ++device) {
    const PlaceId place(session.id, session.devices.host(device));
    if (before.devices.hides(device) && !session.devices.hides(device)) {
      add_place(session, device, now);
    } else if (!before.devices.hides(device)) {
      of(place.device).change_worker(place, session.worker, now);
      of(place.device).set_suspended(place, is_suspended_at(member, device), now);
    }
  }
  if (!member.suspended) enter(member, session.attributes, now);
}

void DeviceDispatchers::adopt_session(const DispatchedSession& session, const SessionBooks& books, Time now) {
  const auto used = session.devices.pick(books.used_ns);
  const auto work = session.devices.pick(books.work);
  const auto turns = session.devices.pick(books.turns);
  for (std::size_t device = 0; device < session.devices.size(); ++device) {
    if (session.devices.hides(device)) continue;
    const PlaceId place(session.id, session.devices.host(device));
    Dispatcher& dispatcher = of(place.device);
    dispatcher.add_tenant(session.tenant, session.attributes, now);
    dispatcher.adopt_session(place, session.tenant, pages(session, device), used[device], now, work[device],
                             turns[device], session.worker);
    dispatcher.set_suspended(place, is_suspended_at(member_of(session), device), now);
  }
  join(session, now);
}

Dispatcher::SessionPages DeviceDispatchers::pages(const DispatchedSession& session, std::size_t device) {
  session::TurnPromise* const promise =
      session.promises == nullptr ? nullptr : &session.promises->devices[device];
  session::DeviceResidency* const residency =
      session.residencies == nullptr ? nullptr : &session.residencies->devices[device];
  return {session.turns->devices[device], promise, *session.header,
          std::span(session.turns->devices).first(session.devices.size()), residency};
}

DeviceDispatchers::Member DeviceDispatchers::member_of(const DispatchedSession& session) {
  return {session.tenant, session.knock_fd, session.devices, session.homes.value_or(session.devices),
          session.suspended};
}

void DeviceDispatchers::join(const DispatchedSession& session, Time now) {
  const Member& member = sessions_[session.id] = member_of(session);
  if (!session.suspended) enter(member, session.attributes, now);
}

/// Once for each hardware.
template <class Visit>
void DeviceDispatchers::at_dues(const DeviceView& devices, Visit visit) {
  std::uint64_t met = 0;
  for (const std::uint32_t device : devices.shown()) {
    const std::uint64_t bit = std::uint64_t{1} << hardware_[device];
    if ((std::exchange(met, met | bit) & bit) == 0) visit(dues_[hardware_[device]]);
  }
}

void DeviceDispatchers::enter(const Member& member, const sched::TenantAttributes& attributes, Time now) {
  at_dues(member.homes, [&](Dues& dues) {
    ++dues.members[member.tenant];
    dues.entitlement.set(member.tenant, attributes, now);
  });
}

void DeviceDispatchers::leave(const Member& member, Time now) {
  at_dues(member.homes, [&](Dues& dues) {
    if (--dues.members[member.tenant] != 0) return;
    dues.members.erase(member.tenant);
    dues.entitlement.remove(member.tenant, now);
  });
}

void DeviceDispatchers::remove_session(SessionId id, Time now) {
  const Member& member = sessions_.at(id);
  if (!member.suspended) leave(member, now);
  at_places(id, [now](Dispatcher& dispatcher, PlaceId place) { dispatcher.remove_session(place, now); });
  sessions_.erase(id);
}

bool DeviceDispatchers::set_suspended(SessionId id, bool suspended, const sched::TenantAttributes& attributes,
                                      Time now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  Member& member = found->second;
  if (std::exchange(member.suspended, suspended) == suspended) return false;
  if (suspended) {
    leave(member, now);
  } else {
    enter(member, attributes, now);
  }
  for (std::size_t device = 0; device < member.devices.size(); ++device) {
    if (member.devices.hides(device)) continue;
    const PlaceId place(id, member.devices.host(device));
    of(place.device).set_suspended(place, is_suspended_at(member, device), now);
  }
  return true;
}

const DeviceDispatchers::Member* DeviceDispatchers::find(SessionId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

void DeviceDispatchers::set_attributes(TenantId id, const sched::TenantAttributes& attributes, Time now) {
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.set_attributes(id, attributes, now);
  for (Dues& dues : dues_) {
    if (dues.members.contains(id)) dues.entitlement.set(id, attributes, now);
  }
}

bool DeviceDispatchers::knows(TenantId id) const {
  return std::any_of(dispatchers_.begin(), dispatchers_.end(), [id](const Dispatcher& dispatcher) {
    return dispatcher.device().charges.accounts().knows(id);
  });
}

bool DeviceDispatchers::may_forget(TenantId id) const {
  return std::all_of(dispatchers_.begin(), dispatchers_.end(),
                     [id](const Dispatcher& dispatcher) { return daemon::may_forget(dispatcher, id); });
}

void DeviceDispatchers::forget(TenantId id, Time now) {
  for (Dispatcher& dispatcher : dispatchers_) {
    if (dispatcher.charges().accounts().knows(id)) dispatcher.forget_tenant(id, now);
  }
  for (Dues& dues : dues_) dues.entitlement.forget(id, now);
}

void DeviceDispatchers::restore_books(TenantId id, const std::vector<TenantBooks>& books,
                                      const sched::TenantAttributes& attributes,
                                      const std::vector<std::chrono::nanoseconds>& entitled, Time now) {
  for (std::size_t device = 0; device < std::min(dues_.size(), entitled.size()); ++device) {
    if (hardware_[device] == device) dues_[device].entitlement.restore(id, entitled[device]);
  }
  for (std::size_t device = 0; device < std::min(dispatchers_.size(), books.size()); ++device) {
    dispatchers_[device].add_tenant(id, attributes, now);
    dispatchers_[device].restore_books(id, books[device], now);
  }
}

}  // namespace fairgv::daemon
