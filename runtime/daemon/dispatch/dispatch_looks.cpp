#include "runtime/daemon/dispatch/dispatch_looks.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// Tenants looked at without letting go of the lock: a few microseconds.
constexpr std::size_t kTenantsAtATime = 32;

}  // namespace

std::vector<DeviceSharing> DispatchLooks::devices() {
  const std::lock_guard lock(state_.mutex);
  DeviceDispatchers& dispatchers = state_.dispatchers;
  std::vector<DeviceSharing> list;
  for (std::uint32_t device = 0; device < dispatchers.size(); ++device) {
    const Dispatcher& dispatcher = dispatchers.of(device);
    DeviceSharing sharing{dispatchers.rule(dispatchers.hardware_of(device)).policy, slice_of(dispatcher), {}};
    const auto& turn = dispatcher.device().turn;
    if (turn && turn->place.device == device) sharing.holder = turn->place.session;
    list.push_back(std::move(sharing));
  }
  return list;
}

bool DispatchLooks::goes_by(std::string_view policy) {
  const std::lock_guard lock(state_.mutex);
  return state_.dispatchers.goes_by(policy);
}

SessionLook DispatchLooks::session(SessionId id) {
  const std::lock_guard lock(state_.mutex);
  SessionLook look;
  look.used_ns.resize(state_.dispatchers.size());
  state_.dispatchers.at_places(id, [&look](const Dispatcher& dispatcher, PlaceId at) {
    const SessionPlace& place = dispatcher.device().places.at(at);
    look.state = std::max(look.state, place.state());
    look.interactive = look.interactive || place.interactive();
    look.compiles = look.compiles || place.compile_clock().runs();
    if (look.waits_for.empty()) look.waits_for = place.waits_for();
    look.used_ns[at.device] = place.used_ns;
    look.has_used_a_device = look.has_used_a_device || place.used_ns > 0;
  });
  return look;
}

DeviceReading DispatchLooks::reading(std::uint32_t device) {
  const std::lock_guard lock(state_.mutex);
  DeviceReading reading;
  if (device >= state_.dispatchers.size()) return reading;
  const auto now = Clock::now();
  Dispatcher& dispatcher = state_.dispatchers.of(device);
  reading.policy = state_.dispatchers.rule(state_.dispatchers.hardware_of(device)).policy;
  dispatcher.charge_holder(now);
  reading.tenants = readings_of(dispatcher, now);
  state_.broken.collect(state_.dispatchers.all());
  return reading;
}

bool DispatchLooks::has_host_device() {
  const std::lock_guard lock(state_.mutex);
  return state_.processors.any();
}

bool DispatchLooks::go_by_host_weights() {
  const std::lock_guard lock(state_.mutex);
  const auto& all = state_.dispatchers.all();
  return std::any_of(all.begin(), all.end(), [](const Dispatcher& dispatcher) {
    return dispatcher.device().policy->host_interest().weights;
  });
}

bool DispatchLooks::may_forget(TenantId id) {
  const std::lock_guard lock(state_.mutex);
  return state_.may_forget(id, Clock::now());
}

std::unordered_map<TenantId, TenantUsage> DispatchLooks::usage(const std::vector<TenantId>& tenants) {
  std::unordered_map<TenantId, TenantUsage> result;
  std::unique_lock lock(state_.mutex);
  auto now = Clock::now();
  state_.charge_holders(now);
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    if (i > 0 && i % kTenantsAtATime == 0) {
      lock.unlock();
      lock.lock();
      now = Clock::now();
    }
    const TenantId id = tenants[i];
    if (!state_.dispatchers.knows(id)) continue;
    TenantUsage& usage = result[id];
    for (std::uint32_t device = 0; device < state_.dispatchers.size(); ++device) {
      usage.shares.push_back(state_.dispatchers.entitlement(device).share(id));
      usage.entitled.push_back(state_.dispatchers.entitlement(device).of(id, now));
    }
    for (Dispatcher& dispatcher : state_.dispatchers.all()) {
      const bool known = dispatcher.charges().accounts().knows(id);
      usage.devices.push_back(known ? use_of(dispatcher, id, now) : DeviceUse{});
    }
  }
  return result;
}

std::vector<TenantBooks> DispatchLooks::books(TenantId id) {
  const std::lock_guard lock(state_.mutex);
  std::vector<TenantBooks> list;
  for (Dispatcher& dispatcher : state_.dispatchers.all()) {
    list.push_back(dispatcher.books(id, Clock::now()));
  }
  return list;
}

std::vector<std::chrono::nanoseconds> DispatchLooks::entitled(TenantId id) {
  const std::lock_guard lock(state_.mutex);
  std::vector<std::chrono::nanoseconds> list;
  for (std::uint32_t device = 0; device < state_.dispatchers.size(); ++device)
    list.push_back(state_.dispatchers.entitlement(device).of(id, Clock::now()));
  return list;
}

SessionBooks DispatchLooks::session_books(SessionId id) {
  const std::lock_guard lock(state_.mutex);
  const auto now = Clock::now();
  SessionBooks books;
  for (std::uint32_t device = 0; device < state_.dispatchers.size(); ++device) {
    Dispatcher& dispatcher = state_.dispatchers.of(device);
    const PlaceId at(id, device);
    const DeviceState& state = dispatcher.device();
    const SessionPlace* const place = state.places.find(at);
    books.used_ns.push_back(place == nullptr ? 0 : place->used_ns);
    books.work.push_back(dispatcher.work(at, now));
    std::optional<TurnBooks> turn;
    if (state.turn && state.turn->place == at) turn = state.turn->books();
    if (state.interrupted && state.interrupted->place() == at) turn = state.interrupted->books();
    books.turns.push_back(turn);
  }
  return books;
}

void DispatchLooks::trace(bool on) {
  const std::lock_guard lock(state_.mutex);
  state_.dispatchers.trace(on);
}

std::vector<std::vector<TracedTurn>> DispatchLooks::take_traced(std::uint64_t& lost) {
  const std::lock_guard lock(state_.mutex);
  const auto now = Clock::now();
  state_.charge_holders(now);
  std::vector<std::vector<TracedTurn>> turns(state_.dispatchers.size());
  for (Dispatcher& dispatcher : state_.dispatchers.all()) {
    for (const TracedTurn& turn : take_turns(dispatcher, now, lost)) turns[turn.device].push_back(turn);
  }
  return turns;
}

}  // namespace fairgv::daemon
