// How much of a device's time tenants were entitled to, summed up over time: while a tenant has sessions, its
// guarantee, and of what is not guaranteed its weight over the weights of all tenants that have sessions, but
// no more than its ceiling; what a ceiling leaves goes to the others by weight (sched/water_level.hpp). The
// entitlements of all tenants add up to the time during which anybody had a session, unless all are at their
// ceilings. Each device has its own, since a session may use some devices only.
//
// Costs nothing while nothing changes, whatever the number of tenants: it keeps how much one unit of weight
// has been entitled to so far, and for each tenant where that stood when its entitlement last changed.
//
// Pure logic, not thread-safe; time is an argument and must not go backwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>

#include "runtime/daemon/tenants/ids.hpp"
#include "sched/attributes.hpp"
#include "sched/water_level.hpp"

namespace fairgv::daemon {

class Entitlement {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// From now on the tenant counts with these attributes.
  void set(TenantId id, const sched::TenantAttributes& attributes, Time now);
  /// It has no sessions from now on.
  void remove(TenantId id, Time now) { count(id, {}, now); }
  /// In its life, until now.
  Duration of(TenantId id, Time now) const;
  /// Its share of the device now, 0 to 1.
  double share(TenantId id) const { return level_.share(id); }
  /// Of a daemon before this one.
  void restore(TenantId id, Duration before) { tenants_[id].sum = static_cast<double>(before.count()); }
  void forget(TenantId id, Time now);

 private:
  struct Tenant {
    std::uint32_t weight = 0;  // 0: it has no sessions, or is at its ceiling
    double fixed = 0;          // what it has beyond its part by weight, 0 to 1: its guarantee, or its ceiling
    double since = 0;          // per_weight_ when that changed last
    Time set_at{};             // ... and the time
    double sum = 0;            // nanoseconds, until then

    double grown(double per_weight, Time now) const {
      return weight * (per_weight - since) + fixed * static_cast<double>((now - set_at).count());
    }
  };

  void count(TenantId id, const sched::WaterLevel::Claim& claim, Time now);
  void settle(Tenant& tenant, Time now) const;
  double per_weight(Time now) const;

  std::unordered_map<TenantId, Tenant> tenants_;
  std::unordered_map<TenantId, sched::WaterLevel::Claim> claims_;  // of tenants with sessions
  sched::WaterLevel level_;
  double per_weight_ = 0;  // nanoseconds, until changed_
  Time changed_{};
};

}  // namespace fairgv::daemon
