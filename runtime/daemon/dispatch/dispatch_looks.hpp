// Looks at all dispatchers from outside: for reports, for a trace, and for the daemon after this one.
//
// The server's thread calls these methods, which hold the loop's lock for microseconds at a time. Charges are
// up to date at the moment of asking where the comment says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/dispatch/device_use.hpp"
#include "runtime/daemon/dispatch/dispatch_state.hpp"

namespace fairgv::daemon {

/// A tenant's use of each device at one moment.
struct TenantUsage {
  std::vector<DeviceUse> devices;
  std::vector<double> shares;                      // of each device, by the tenant's weight now: 0 to 1
  std::vector<std::chrono::nanoseconds> entitled;  // time of each device due to the tenant in its life
};

/// How a device is shared now.
struct DeviceSharing {
  std::string policy;
  sched::Duration slice{0};         // length of a turn while as many tenants want the device as want it now
  std::optional<SessionId> holder;  // the session that has the turn
};

/// A session now, on all devices that its worker sees.
struct SessionLook {
  session::TurnState state = session::TurnState::idle;  // the most active one
  bool interactive = false;                             // on any device; see SessionPlace
  bool compiles = false;                                // on any device
  std::string waits_for{};                              // of the first device that a command waits for
  std::vector<std::uint64_t> used_ns{};  // by the host's devices: counted by its worker and charged
  bool has_used_a_device = false;
};

/// A device that may be oversold.
struct DeviceReading {
  std::string policy;
  std::vector<TenantReading> tenants;  // with sessions that see it
};

class DispatchLooks {
 public:
  explicit DispatchLooks(DispatchState& state) : state_(state) {}

  /// The sharing of each device.
  std::vector<DeviceSharing> devices();
  /// Whether a device has this policy, or would have it if it were there.
  bool goes_by(std::string_view policy);
  SessionLook session(SessionId id);
  /// The facts that the overselling of one device goes by, until now; the device is the first that is its
  /// hardware.
  DeviceReading reading(std::uint32_t device);
  /// Whether any device runs on the host's processors: then the sessions' use of the processors is to be
  /// charged (DispatchLoop::account_processors()).
  bool has_host_device();
  /// Whether the policy of any device goes by the weights of the host's processors.
  bool go_by_host_weights();
  /// Whether forgetting the tenant loses nothing: it has no sessions and no debt.
  bool may_forget(TenantId id);
  /// The usage of all tenants until now; no entry for a tenant that is not known yet. Looks at some tenants
  /// at a time, so that no session waits long for a turn: with many tenants the figures are not all of the
  /// same instant.
  std::unordered_map<TenantId, TenantUsage> usage(const std::vector<TenantId>& tenants);

  // -- for a daemon after this one

  /// A tenant's past by device, until now.
  std::vector<TenantBooks> books(TenantId id);
  std::vector<std::chrono::nanoseconds> entitled(TenantId id);
  SessionBooks session_books(SessionId id);

  // -- tracing

  /// Whether turns are remembered from now on.
  void trace(bool on);
  /// By device: turns that ended since the last call, then the turn in progress. Adds the number of lost
  /// turns to `lost`.
  std::vector<std::vector<TracedTurn>> take_traced(std::uint64_t& lost);

 private:
  DispatchState& state_;
};

}  // namespace fairgv::daemon
