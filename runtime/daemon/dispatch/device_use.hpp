// What one device's dispatcher knows of tenants and sessions, for those who ask: people, metrics, and the
// charging of processors.
//
// Call charge_holder() before for values of this moment. Pure logic; the caller holds whatever lock the
// dispatcher needs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/wait_histogram.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

/// A tenant's use of one device, in its life if nothing else is said.
struct DeviceUse {
  std::chrono::nanoseconds device_time{0};
  std::chrono::nanoseconds outside{0};  // of it, what was charged for processors used outside of turns
  std::chrono::nanoseconds recent{0};   // of it, as UsageWindow has it
  WorkCounters work;                    // as far as workers can be believed
  WaitHistogram waits;                  // of its sessions, for a turn: from asking to being granted it
  std::chrono::nanoseconds wait_p50{0}, wait_p99{0};  // of late, as Waits has it
  std::uint32_t queue = 0;                            // sessions with work now: they wait, or use the device
  std::uint32_t interactive = 0;                      // sessions of interactive programs now
};

/// How long a turn is while as many tenants want the device as want it now.
sched::Duration slice_of(const Dispatcher& dispatcher);

/// Everything that is counted of a tenant that is known.
DeviceUse use_of(Dispatcher& dispatcher, TenantId id, sched::Time now);
/// Its device time of late (see UsageWindow). A turn in progress counts as used so far.
sched::Duration recent_device_time(const Dispatcher& dispatcher, TenantId id, sched::Time now);

/// Turns that are over since the last call, then the one in progress, while turns are remembered; `lost` is
/// added to.
std::vector<TracedTurn> take_turns(Dispatcher& dispatcher, sched::Time now, std::uint64_t& lost);

/// The session's charges in its life, and those to come for the command that is under way as far as its
/// worker says. Nothing if it has never wanted this device.
std::optional<sched::Duration> paid_by(const Dispatcher& dispatcher, PlaceId id, sched::Time now);
/// Of each tenant with sessions, its share by weight beside those that use the device: that have used it in
/// turns since TenantAccounts::begin_activity(), use it, or wait for it now. 1 where there are no others.
std::unordered_map<TenantId, double> shares_of(const Dispatcher& dispatcher);

}  // namespace fairgv::daemon
