#include "runtime/daemon/dispatch/processor_charges.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/daemon/dispatch/device_use.hpp"

namespace fairgv::daemon {

unsigned ProcessorCharges::add_device(const std::optional<cpu_set_t>& processors, Time now) {
  auto& host = devices_.emplace_back();
  if (!processors) return 0;
  host =
      HostDevice{*processors, static_cast<unsigned>(CPU_COUNT(&*processors)), stat_.read(*processors), now};
  return host->count;
}

void ProcessorCharges::clear() {
  devices_.clear();
  book_ = {};
}

bool ProcessorCharges::any() const {
  return std::any_of(devices_.begin(), devices_.end(), [](const auto& host) { return host.has_value(); });
}

void ProcessorCharges::charge(DeviceDispatchers& dispatchers, const std::vector<ProcessorTime>& times,
                              Time now) {
  for (Dispatcher& dispatcher : dispatchers.all()) dispatcher.charge_holder(now);
  std::map<std::uint32_t, Readings> readings;  // by device
  for (const ProcessorTime& time : times) {
    if (const auto device = host_device_of(dispatchers, time.session, now)) {
      readings[*device].push_back(reading_of(dispatchers, time, now));
    }
  }
  for (const auto& [device, list] : readings) charge_outside(dispatchers, list, device, now);
  for (std::uint32_t device = 0; device < devices_.size(); ++device) {
    auto& host = devices_[device];
    if (!host) continue;
    Dispatcher& dispatcher = dispatchers.of(device);
    charge_excuses(dispatcher, *host, stat_.read(host->processors), now);
    dispatcher.charges().accounts().begin_activity();
  }
}

void ProcessorCharges::charge_last(DeviceDispatchers& dispatchers, const ProcessorTime& time, Time now) {
  if (const auto device = host_device_of(dispatchers, time.session, now)) {
    charge_outside(dispatchers, {reading_of(dispatchers, time, now)}, *device, now);
  }
}

void ProcessorCharges::charge_excuses(Dispatcher& dispatcher, HostDevice& host, const ProcessorTicks& ticks,
                                      Time now) const {
  const auto passed = now - std::exchange(host.looked, now);
  const auto idle = ProcessorStat::tick() * static_cast<std::int64_t>(ticks.idle - host.seen.idle);
  host.seen = ticks;
  const ExcusedTime excused = dispatcher.charges().take_excused();
  // The count of a processor is late by up to a tick, at both ends.
  const auto doubt = 2 * ProcessorStat::tick() * host.count;
  const double part = excused.unfounded(passed * host.count - idle, doubt, host.count);
  if (part <= 0 || !stat_.counts()) return;
  for (const auto& [tenant, time] : excused.by_tenant()) {
    const auto due = std::chrono::duration<double, std::nano>(part * static_cast<double>(time.count()));
    dispatcher.charges().charge_later(tenant, std::chrono::duration_cast<sched::Duration>(due), now - passed,
                                      now);
  }
}

/// The device whose time the session's processes use: the first device on the host's processors that the
/// session has wanted.
std::optional<std::uint32_t> ProcessorCharges::host_device_of(DeviceDispatchers& dispatchers, SessionId id,
                                                              Time now) const {
  std::optional<std::uint32_t> first;
  dispatchers.at_places(id, [&](const Dispatcher& dispatcher, PlaceId place) {
    const std::uint32_t device = dispatchers.hardware_of(place.device);
    if (!devices_[device] || !paid_by(dispatcher, place, now)) return;
    first = std::min(first.value_or(device), device);
  });
  return first;
}

/// The devices of several drivers may be the host's processors: the turns on all of them have paid.
ProcessorBook::Reading ProcessorCharges::reading_of(DeviceDispatchers& dispatchers, const ProcessorTime& time,
                                                    Time now) const {
  ProcessorBook::Reading reading{time.session, dispatchers.find(time.session)->tenant, time.ran, {}};
  dispatchers.at_places(time.session, [&](Dispatcher& dispatcher, PlaceId place) {
    if (!devices_[dispatchers.hardware_of(place.device)]) return;
    const SessionPlace& its = dispatcher.device().places.at(place);
    // A place that the session has left has paid, too.
    reading.paid += paid_by(dispatcher, place, now).value_or(its.charged);
    // All places of the session have the same clock.
    reading.compiled_ms = its.compile_clock().shows(now);
  });
  return reading;
}

void ProcessorCharges::charge_outside(DeviceDispatchers& dispatchers, const Readings& readings,
                                      std::uint32_t device, Time now) {
  Dispatcher& dispatcher = dispatchers.of(device);
  const auto shares = shares_of(dispatcher);
  const auto share = [&](TenantId id) {
    const auto found = shares.find(id);
    return found == shares.end() ? 1.0 : found->second;
  };
  const auto limit = dispatchers.rule(device).hold_limit;
  for (const auto& finding : book_.look(readings, share, devices_[device]->count, now)) {
    if (finding.charged > sched::Duration(0)) {
      dispatcher.charges().charge_outside(finding.tenant, finding.charged, finding.from, now);
    }
    if (limit == sched::Duration(0) || finding.overdraft <= limit) continue;
    const std::string reason = fmt::format(
        "used the device's processors without a turn, for {:.1f} s more than its tenant's share "
        "while others used the device (hold_limit_s)",
        std::chrono::duration<double>(finding.overdraft).count());
    dispatchers.at_places(finding.most,
                          [&](Dispatcher& at, PlaceId place) { at.condemn(place, reason, now); });
  }
}

}  // namespace fairgv::daemon
