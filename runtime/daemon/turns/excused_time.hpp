// Time for which turns on a CPU device were not charged because other processes had the processors, compared
// with the time for which other processes can have had them.
//
// A single turn does not show the difference: a worker's process does not run when another process takes the
// processors, and also when the tenant's own code keeps the device and sleeps. But all excused time is
// processor time of other processes. So it cannot exceed the time for which the device's processors were
// busy, less the time for which the turns themselves ran.
//
// Three tenants of weights 1:2:3 on two busy processors that the device shares had a Min-Max Ratio of 0.98
// with this rule, and of 0.89 to 0.95 when turns were charged by the wall clock alone
// (docs/results/device-time.md).
//
// Pure logic.
#pragma once

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

class ExcusedTime {
 public:
  using Duration = std::chrono::nanoseconds;

  /// A turn was not charged for `excused` of the device's time, if that is positive; its worker ran for `ran`
  /// of processor time that was charged.
  void add(TenantId tenant, Duration excused, Duration ran) {
    ran_ += ran;
    if (excused <= Duration(0)) return;
    by_tenant_[tenant] += excused;
    excused_ += excused;
  }

  /// The part of the excuse, 0 to 1, that other processes cannot have used: the device's processors were busy
  /// for `busy` of processor time in all, give or take `doubt`.
  double unfounded(Duration busy, Duration doubt, unsigned processors) const {
    const Duration claimed = excused_ * processors;
    const Duration possible = std::max(busy - ran_, Duration(0)) + doubt;
    if (claimed <= possible) return 0;
    return 1 - static_cast<double>(possible.count()) / static_cast<double>(claimed.count());
  }

  const std::unordered_map<TenantId, Duration>& by_tenant() const { return by_tenant_; }

 private:
  Duration ran_{0};
  Duration excused_{0};
  std::unordered_map<TenantId, Duration> by_tenant_;
};

}  // namespace fairgv::daemon
