// The devices that are oversold (config: `oversell`), each with a market of its own, and the tenants' way to
// capacity: a tenant's `max` is the part of the device that it buys when its first session comes, and the
// most that its cap ever is. Tenants of which nothing is said buy the whole device.
//
// A tenant has what it bought until its last session on the device is gone. What is not for sale is refused
// in one line that says what is. Where several tenants are overloaded at once, the log says that a program
// should move, once a minute, and moves/reliefs.hpp moves one where it is told to.
//
// Used by the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/table.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/oversell/holding.hpp"
#include "runtime/daemon/oversell/market.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

class Markets {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kWarnEvery{60};

  /// All outlive it.
  struct Needs {
    const Config& config;
    DispatchLoop& dispatch;
    const TenantRegistry& tenants;
    const DeviceTable& devices;
  };
  explicit Markets(const Needs& needs) : needs_(needs) {}

  // -- tenants

  /// The tenant buys, on each oversold device of `devices` where it has nothing yet: on all of them or none.
  Result<void> sell(const Tenant& tenant, const DeviceView& devices);
  /// Whether a program of the tenant, known or not, could get so much on any of the devices that are known:
  /// for `fairgv whoami`, before anybody knows which devices the program will see.
  Result<void> would_sell(const std::string& tenant, const Result<sched::Share>& max) const;
  /// Whether a tenant that has bought could have `max` instead.
  Result<void> may_change(TenantId id, sched::Share max) const;
  /// The tenant's attributes have changed. Where there is no room, it keeps what it has, and the log says so.
  void change(const Tenant& tenant);
  /// A session is gone: its tenant leaves the devices that none of its other sessions sees. `seen`: those
  /// that they see.
  void settle(TenantId id, const std::vector<std::uint32_t>& seen);
  /// Sets the caps that have changed. Call it when a tenant that has bought is known to the dispatcher.
  void apply();

  /// The configuration was read again, or a hand-over is complete. Tenants that are on a device which is
  /// oversold from now on share it by their ceilings.
  void configure();
  std::vector<Holding> holdings(TenantId id) const;
  /// The dispatcher must know the tenant.
  void restore(const Tenant& tenant, const std::vector<Holding>& holdings);

  // -- time

  /// A device's policy may have changed.
  void follow_policies();
  /// When expire() wants to be called: never while no tenant has bought anything.
  std::optional<Time> deadline() const;
  void expire(Time now);

  // -- looking

  bool any() const { return !markets_.empty(); }
  /// The device's market; null if the device is not oversold, or had no tenant yet.
  const Market* of(std::uint32_t device) const;
  /// The devices that had a warning in the latest second, as the books number them.
  std::vector<std::uint32_t> overloaded() const;

 private:
  Market& market_of(std::uint32_t hardware);
  std::vector<std::uint32_t> oversold(const DeviceView& devices) const;
  void follow_policy(Market& market, const std::string& policy) const;
  void set_caps(std::uint32_t device, Market& market) const;
  void close(std::uint32_t device);
  void reopen(std::uint32_t device, const Market::Settings& settings);
  void take_in_present(std::uint32_t device);
  void warn(std::uint32_t device, const Market& market, Time now);
  std::string name_of(TenantId id) const;

  const Needs needs_;
  std::map<std::uint32_t, Market> markets_;  // by device: the first that is its hardware
  std::map<std::uint32_t, Time> warned_;
};

}  // namespace fairgv::daemon
