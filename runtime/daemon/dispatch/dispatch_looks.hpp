// What others may know of all dispatchers: the reports, a trace, and the daemon after this one.
//
// The server's thread calls it, with the loop's lock for microseconds at a time. What is charged is of the
// moment of asking where that is said.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/dispatch/device_use.hpp"
#include "runtime/daemon/dispatch/dispatch_state.hpp"

namespace fairgv::daemon {

/// A tenant's use of each device at one moment.
struct TenantUsage {
  std::vector<DeviceUse> devices;
  double share = 0;                      // of each device, that its weight gives it now: 0 to 1
  std::chrono::nanoseconds entitled{0};  // the time of each device that it was entitled to in its life
};

/// How a device is shared now.
struct DeviceSharing {
  std::string policy;
  sched::Duration slice{0};         // of a turn while as many tenants want it as want it now
  std::optional<SessionId> holder;  // of the turn
};

/// A session now, on all devices that its worker sees.
struct SessionLook {
  session::TurnState state = session::TurnState::idle;  // the most active one
  bool interactive = false;                             // on any device; see SessionPlace
  bool compiles = false;                                // the same
  std::string waits_for{};                              // of the first device for which a command waits
  std::vector<std::uint64_t> used_ns{};  // by the host's devices: what its worker has counted and was charged
  bool has_used_a_device = false;
};

class DispatchLooks {
 public:
  explicit DispatchLooks(DispatchState& state) : state_(state) {}

  /// By device.
  std::vector<DeviceSharing> devices();
  SessionLook session(SessionId id);
  /// Whether any device runs on the host's processors: then sessions' use of those is to be charged
  /// (DispatchLoop::account_processors()).
  bool has_host_device();
  /// Whether nothing is lost by forgetting the tenant: no sessions, and no debt.
  bool may_forget(TenantId id);
  /// All tenants' usage until now; none of a tenant that is not known yet. Looks at some tenants at a time,
  /// so that nobody who wants a turn waits for long: with many of them it is not all of the same instant.
  std::unordered_map<TenantId, TenantUsage> usage(const std::vector<TenantId>& tenants);

  // -- for a daemon after this one

  /// A tenant's past by device, until now.
  std::vector<TenantBooks> books(TenantId id);
  std::chrono::nanoseconds entitled(TenantId id);
  SessionBooks session_books(SessionId id);

  // -- for who traces

  /// Whether turns are remembered from now on.
  void trace(bool on);
  /// By device: turns that are over since the last call, then the one in progress; `lost` is added to.
  std::vector<std::vector<TracedTurn>> take_traced(std::uint64_t& lost);

 private:
  DispatchState& state_;
};

}  // namespace fairgv::daemon
