#include "runtime/daemon/dispatch/device_use.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

/// The tenant that uses the device now, as the page of the turn's session says.
std::optional<TenantId> user_of(const Dispatcher& dispatcher) {
  const auto& turn = dispatcher.device().turn;
  if (!turn) return std::nullopt;
  const SessionPlace& holder = dispatcher.device().places.at(turn->place);
  return holder.is_busy() ? std::optional(holder.tenant) : std::nullopt;
}

}  // namespace

sched::Duration slice_of(const Dispatcher& dispatcher) {
  const DeviceState& device = dispatcher.device();
  const bool holder_counts = device.turn && !device.line.has(device.places.at(device.turn->place).tenant);
  return device.rules.slices.of(device.line.tenants() + (holder_counts ? 1 : 0));
}

bool may_forget(const Dispatcher& dispatcher, TenantId id) {
  const DeviceState& device = dispatcher.device();
  return !device.charges.accounts().knows(id) ||
         (device.places.of(id).empty() && device.policy->may_forget(id));
}

DeviceUse use_of(Dispatcher& dispatcher, TenantId id, sched::Time now) {
  const TenantAccount& account = dispatcher.device().charges.accounts().at(id);
  const WaitHistogram recent = account.waits.recent(now);
  DeviceUse use{.device_time = account.device_time,
                .outside = account.outside,
                .recent = recent_device_time(dispatcher, id, now),
                .work = account.ended,
                .waits = account.waits.all(),
                .wait_p50 = recent.quantile(0.5),
                .wait_p99 = recent.quantile(0.99),
                .queue = static_cast<std::uint32_t>(dispatcher.device().line.length_of(id)),
                .held_back = dispatcher.device().policy->held_back(id, now)};
  for (const PlaceId member : dispatcher.device().places.of(id)) {
    const SessionPlace& place = dispatcher.device().places.at(member);
    use.work += dispatcher.work(member, now);
    if (place.interactive()) use.interactive += 1;
    if (place.is_busy()) use.queue += 1;
  }
  return use;
}

sched::Duration recent_device_time(const Dispatcher& dispatcher, TenantId id, sched::Time now) {
  UsageWindow window = dispatcher.device().charges.accounts().at(id).window;
  if (user_of(dispatcher) == id) {
    const sched::Time until = dispatcher.device().turn->charged_until;
    window.add(until, now, now - until);
  }
  return window.within(now);
}

std::vector<TenantReading> readings_of(Dispatcher& dispatcher, sched::Time now) {
  std::vector<TenantReading> readings;
  for (const auto& [id, account] : dispatcher.device().charges.accounts().all()) {
    const std::vector<PlaceId>& members = dispatcher.device().places.of(id);
    if (members.empty()) continue;
    TenantReading reading{id, account.device_time, account.ended.units};
    for (const PlaceId member : members) reading.units += dispatcher.work(member, now).units;
    readings.push_back(reading);
  }
  return readings;
}

void set_cap(Dispatcher& dispatcher, TenantId id, std::optional<sched::Share> cap, sched::Time now) {
  TenantAccount* const account = dispatcher.charges().accounts().find(id);
  if (account == nullptr) return;
  account->cap = cap;
  sched::TenantAttributes wanted = account->attributes;
  wanted.max = account->wanted_max;
  dispatcher.set_attributes(id, wanted, now);
}

std::vector<TracedTurn> take_turns(Dispatcher& dispatcher, sched::Time now, std::uint64_t& lost) {
  auto turns = dispatcher.log().take(lost);
  const auto& turn = dispatcher.device().turn;
  if (dispatcher.log().is_on() && turn) turns.push_back(turn->traced(now, false));
  return turns;
}

std::optional<SessionId> holder_of(const Dispatcher& dispatcher) {
  const auto& turn = dispatcher.device().turn;
  return turn ? std::optional(turn->place.session) : std::nullopt;
}

std::optional<sched::Duration> paid_by(const Dispatcher& dispatcher, PlaceId id, sched::Time now) {
  const SessionPlace* const place = dispatcher.device().places.find(id);
  if (place == nullptr || !place->user) return std::nullopt;
  const auto& turn = dispatcher.device().turn;
  if (!turn || turn->place != id || !place->is_busy()) return place->charged;
  const sched::Duration coming = turn->contested ? now - turn->charged_until : place->under_way(now);
  return place->charged + std::min(coming, turn->open(now));
}

std::unordered_map<TenantId, double> shares_of(const Dispatcher& dispatcher) {
  const std::optional<TenantId> user = user_of(dispatcher);
  const auto& accounts = dispatcher.device().charges.accounts().all();
  const auto uses = [&](TenantId id, const TenantAccount& account) {
    return account.in_turns > sched::Duration(0) || dispatcher.device().line.has(id) || user == id;
  };
  double weights = 0;
  for (const auto& [id, account] : accounts) weights += uses(id, account) ? account.attributes.weight : 0;
  std::unordered_map<TenantId, double> shares;
  for (const auto& [id, account] : accounts) {
    if (dispatcher.device().places.of(id).empty()) continue;
    const double own = account.attributes.weight;
    shares[id] = own / (uses(id, account) ? weights : weights + own);
  }
  return shares;
}

}  // namespace fairgv::daemon
