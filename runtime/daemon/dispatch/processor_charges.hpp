// Devices that run on the host's processors: charges for processor time that sessions use without a turn, and
// for time that turns were excused from paying, by the kernel's clocks.
//
// Not thread-safe: the dispatch loop keeps this object under its lock.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/processor_ticks.hpp"
#include "runtime/daemon/books/processor_book.hpp"
#include "runtime/daemon/dispatch/device_dispatchers.hpp"

namespace fairgv::daemon {

/// Processor time of the host that a session's processes have used in their lives, by the kernel's clocks.
struct ProcessorTime {
  SessionId session;
  std::chrono::nanoseconds ran{0};
};

class ProcessorCharges {
 public:
  using Time = sched::Time;

  /// Adds a device behind the others. `processors`: the host's processors that the device consists of; none:
  /// the device has its own, or is the same hardware as an earlier device. Returns the number of processors.
  unsigned add_device(const std::optional<cpu_set_t>& processors, Time now);
  void clear();
  /// Whether any device runs on the host's processors.
  bool any() const;

  /// Charges use of the processors outside of turns (ProcessorUse), and time that turns were excused from
  /// paying though no other process had the processors (ExcusedTime). Sessions of tenants that use the
  /// processors beyond their share for longer than the device's hold limit count as broken.
  void charge(DeviceDispatchers& dispatchers, const std::vector<ProcessorTime>& times, Time now);
  /// The session ends: charges by the last reading of its processors' time.
  void charge_last(DeviceDispatchers& dispatchers, const ProcessorTime& time, Time now);

  /// Continues a session of the earlier daemon, which has charged the processor time until now.
  void go_on(SessionId id) { book_.go_on(id); }
  void forget_session(SessionId id) { book_.forget_session(id); }
  /// Whether forgetting the tenant loses none of its use.
  bool may_forget(TenantId id, Time now) const { return book_.may_forget(id, now); }
  void forget_tenant(TenantId id) { book_.forget_tenant(id); }

 private:
  using Readings = std::vector<ProcessorBook::Reading>;

  struct HostDevice {
    cpu_set_t processors;
    unsigned count = 0;
    ProcessorTicks seen{};  // at the last look
    Time looked{};
  };

  std::optional<std::uint32_t> host_device_of(DeviceDispatchers& dispatchers, SessionId id, Time now) const;
  ProcessorBook::Reading reading_of(DeviceDispatchers& dispatchers, const ProcessorTime& time,
                                    Time now) const;
  void charge_outside(DeviceDispatchers& dispatchers, const Readings& readings, std::uint32_t device,
                      Time now);
  void charge_excuses(Dispatcher& dispatcher, HostDevice& host, const ProcessorTicks& ticks, Time now) const;

  std::vector<std::optional<HostDevice>> devices_;  // by device; of several that are the same, the first
  ProcessorStat stat_;
  ProcessorBook book_;
};

}  // namespace fairgv::daemon
