// Devices that run on the host's processors: the sessions' use of these without a turn, and the time that
// turns were excused from paying, by the kernel's clocks.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

bool DispatchLoop::has_host_device() {
  const std::lock_guard lock(mutex_);
  return std::any_of(host_devices_.begin(), host_devices_.end(),
                     [](const auto& host) { return host.has_value(); });
}

void DispatchLoop::account_processors(const std::vector<ProcessorTime>& times) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  for (Dispatcher& dispatcher : dispatchers_) dispatcher.charge_holder(now);
  std::map<std::uint32_t, std::vector<ProcessorBook::Reading>> readings;  // by device
  for (const ProcessorTime& time : times) {
    if (const auto device = host_device_of(time.session, now)) {
      readings[*device].push_back(*reading_of(time, now));
    }
  }
  for (const auto& [device, list] : readings) look_at_processors(list, device, now);
  for (std::uint32_t device = 0; device < dispatchers_.size(); ++device) {
    if (!host_devices_[device]) continue;
    look_at_excuses(device, processor_stat_.read(host_devices_[device]->processors), now);
    dispatchers_[device].begin_activity();
  }
  collect_broken();
  wake();
}

void DispatchLoop::look_at_excuses(std::uint32_t device, const ProcessorTicks& ticks, Time now) {
  HostDevice& host = *host_devices_[device];
  const auto passed = now - std::exchange(host.looked, now);
  const auto idle = ProcessorStat::tick() * static_cast<std::int64_t>(ticks.idle - host.seen.idle);
  host.seen = ticks;
  const ExcusedTime excused = dispatchers_[device].take_excused();
  // A processor's count is late by up to a tick, at both ends.
  const auto doubt = 2 * ProcessorStat::tick() * host.count;
  const double part = excused.unfounded(passed * host.count - idle, doubt, host.count);
  if (part <= 0 || !processor_stat_.counts()) return;
  for (const auto& [tenant, time] : excused.by_tenant()) {
    const auto due = std::chrono::duration<double, std::nano>(part * static_cast<double>(time.count()));
    dispatchers_[device].charge_later(tenant, std::chrono::duration_cast<Time::duration>(due), now - passed,
                                      now);
  }
}

/// The device whose time the session's processes use: the first on the host's processors that it has wanted.
std::optional<std::uint32_t> DispatchLoop::host_device_of(SessionId id, Time now) {
  std::optional<std::uint32_t> first;
  at_places(id, [&](Dispatcher& dispatcher, PlaceId place) {
    const std::uint32_t device = hardware_[place.device];
    if (!host_devices_[device] || !dispatcher.paid(place, now)) return;
    first = std::min(first.value_or(device), device);
  });
  return first;
}

/// Several drivers' devices may be the host's processors: the turns on all of them have paid.
std::optional<ProcessorBook::Reading> DispatchLoop::reading_of(const ProcessorTime& time, Time now) {
  const auto found = sessions_.find(time.session);
  if (found == sessions_.end()) return std::nullopt;
  ProcessorBook::Reading reading{time.session, found->second.tenant, time.ran, {}};
  at_places(time.session, [&](Dispatcher& dispatcher, PlaceId place) {
    if (!host_devices_[hardware_[place.device]]) return;
    reading.paid += dispatcher.paid(place, now).value_or(Time::duration(0));
    reading.compiled_ms = dispatcher.compile_clock(place).shows(now);  // the same at each of its places
  });
  return reading;
}

void DispatchLoop::look_at_processors(const std::vector<ProcessorBook::Reading>& readings,
                                      std::uint32_t device, Time now) {
  Dispatcher& dispatcher = dispatchers_[device];
  const auto shares = dispatcher.shares();
  const auto share = [&](TenantId id) {
    const auto found = shares.find(id);
    return found == shares.end() ? 1.0 : found->second;
  };
  const auto limit = rules_.of(device).hold_limit;
  for (const auto& finding : processor_book_.look(readings, share, host_devices_[device]->count, now)) {
    if (finding.charged > Time::duration(0)) {
      dispatcher.charge_outside(finding.tenant, finding.charged, finding.from, now);
    }
    if (limit == sched::Duration(0) || finding.overdraft <= limit) continue;
    const std::string reason = fmt::format(
        "used the device's processors without a turn, for {:.1f} s more than its tenant's share "
        "while others used the device (hold_limit_s)",
        std::chrono::duration<double>(finding.overdraft).count());
    at_places(finding.most, [&](Dispatcher& at, PlaceId place) { at.condemn(place, reason, now); });
  }
}

}  // namespace fairgv::daemon
