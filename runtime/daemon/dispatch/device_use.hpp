// Figures that one device's dispatcher has of tenants and sessions, for reports, for metrics and for the
// charging of processors.
//
// Call charge_holder() first for values of this moment. Pure logic; the caller holds whatever lock the
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

/// A tenant's use of one device, in the tenant's life unless a member says otherwise.
struct DeviceUse {
  std::chrono::nanoseconds device_time{0};
  std::chrono::nanoseconds outside{0};  // the part that was charged for processors used outside of turns
  std::chrono::nanoseconds recent{0};   // the part used of late, as UsageWindow counts it
  WorkCounters work;                    // as far as workers can be believed
  WaitHistogram waits;                  // of its sessions, for a turn: from asking to being granted it
  std::chrono::nanoseconds wait_p50{0}, wait_p99{0};  // recent waits, as Waits measures them
  std::uint32_t queue = 0;                            // sessions with work now, which wait or use the device
  std::uint32_t interactive = 0;                      // sessions of interactive programs now
  bool held_back = false;                             // it has work, and its ceiling is reached
};

/// The session that has the turn.
std::optional<SessionId> holder_of(const Dispatcher& dispatcher);

/// The length of a turn while as many tenants want the device as want it now.
sched::Duration slice_of(const Dispatcher& dispatcher);

/// Whether forgetting the tenant loses nothing: it has no session and no debt.
bool may_forget(const Dispatcher& dispatcher, TenantId id);

/// All figures of a tenant that the dispatcher knows.
DeviceUse use_of(Dispatcher& dispatcher, TenantId id, sched::Time now);
/// The tenant's recent device time (see UsageWindow). A turn in progress counts with its use so far.
sched::Duration recent_device_time(const Dispatcher& dispatcher, TenantId id, sched::Time now);

/// The totals by which one device's overselling goes (daemon/oversell/).
struct TenantReading {
  TenantId id;
  sched::Duration device_time{0};
  std::uint64_t units = 0;  // of service

  friend bool operator==(const TenantReading&, const TenantReading&) = default;
};
/// Of the tenants that have sessions.
std::vector<TenantReading> readings_of(Dispatcher& dispatcher, sched::Time now);
/// Sets the ceiling that holds instead of the tenant's own `max`; none: its own. Unknown tenants are passed
/// over.
void set_cap(Dispatcher& dispatcher, TenantId id, std::optional<sched::Share> cap, sched::Time now);

/// Turns that ended since the last call, then the turn in progress, while turns are remembered. Adds the
/// number of lost turns to `lost`.
std::vector<TracedTurn> take_turns(Dispatcher& dispatcher, sched::Time now, std::uint64_t& lost);

/// The session's charges in its life, and the charge to come for the command under way, as far as its worker
/// reports that command. Nothing if the session has never wanted this device.
std::optional<sched::Duration> paid_by(const Dispatcher& dispatcher, PlaceId id, sched::Time now);
/// The share by weight of each tenant with sessions, beside the tenants that use the device: those that have
/// used it in turns since TenantAccounts::begin_activity(), use it, or wait for it now. 1 where there are no
/// other tenants.
std::unordered_map<TenantId, double> shares_of(const Dispatcher& dispatcher);

}  // namespace fairgv::daemon
