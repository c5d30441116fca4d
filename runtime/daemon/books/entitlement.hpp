// How much of a device's time tenants were entitled to, summed up over time: while a tenant has sessions, its
// guarantee, and of what is not guaranteed its weight over the weights of all tenants that have sessions. The
// entitlements of all tenants add up to the time during which anybody had a session. Each device has its own,
// since a session may use some devices only. Ceilings are left out.
//
// Costs nothing while nothing changes, whatever the number of tenants: it keeps how much one unit of weight
// has been entitled to so far, and for each tenant where that stood when its weight last changed.
//
// Pure logic, not thread-safe; time is an argument and must not go backwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>

#include "runtime/daemon/tenants/ids.hpp"
#include "sched/attributes.hpp"

namespace fairgv::daemon {

class Entitlement {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// From now on the tenant counts with these attributes.
  void set(TenantId id, const sched::TenantAttributes& attributes, Time now) {
    count(id, attributes.weight, attributes.min.share().fraction(), now);
  }
  /// It has no sessions from now on.
  void remove(TenantId id, Time now) { count(id, 0, 0, now); }
  /// In its life, until now.
  Duration of(TenantId id, Time now) const;
  /// Its share of the device now, 0 to 1.
  double share(TenantId id) const;
  /// Of a daemon before this one.
  void restore(TenantId id, Duration before) { tenants_[id].sum = static_cast<double>(before.count()); }
  void forget(TenantId id, Time now);

 private:
  struct Tenant {
    std::uint32_t weight = 0;
    double min = 0;    // guaranteed, 0 to 1
    double since = 0;  // per_weight_ when its weight was set
    Time set_at{};     // ... and the time
    double sum = 0;    // nanoseconds, until then

    double grown(double per_weight, Time now) const {
      return weight * (per_weight - since) + min * static_cast<double>((now - set_at).count());
    }
  };

  void count(TenantId id, std::uint32_t weight, double min, Time now);
  double per_weight(Time now) const;

  std::unordered_map<TenantId, Tenant> tenants_;
  std::uint64_t weights_ = 0;
  double mins_ = 0;        // all guarantees
  double per_weight_ = 0;  // nanoseconds, until changed_
  Time changed_{};
};

}  // namespace fairgv::daemon
