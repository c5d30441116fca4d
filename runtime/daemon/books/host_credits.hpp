// The credits that tenants have on the host's processors, as Xen's scheduler would count them (Pegasus,
// section 4.3, "AugC"): Linux has no such number of its own.
//
// Every 30 ms the processors' time of that period is handed out, in proportion to the host weights of the
// tenants whose programs ran in it. A tenant pays for the time that its programs run. Credits stay within one
// period of all processors on either side of zero.
//
// Pure logic, time is an argument; not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "runtime/daemon/tenants/ids.hpp"
#include "sched/time.hpp"

namespace fairgv::daemon {

class HostCredits {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  static constexpr Duration kPeriod = std::chrono::milliseconds(30);
  /// After a pause of so many periods, in which nobody looked, all begin anew.
  static constexpr std::int64_t kMostPeriods = 4;

  /// `processors`: at least 1.
  explicit HostCredits(unsigned processors) : whole_(kPeriod * static_cast<std::int64_t>(processors)) {}

  /// The tenant's programs ran for this long since the last call.
  void ran(TenantId id, std::uint32_t weight, Duration ran);
  /// Hands out the credits of the periods that are over.
  void pass(Time now);
  Duration left(TenantId id) const;
  void forget(TenantId id) { tenants_.erase(id); }

 private:
  struct Tenant {
    std::int64_t weight = 1;
    Duration left{0};
    bool active = false;  // ran in this period
  };

  Duration whole_;  // of all processors in a period
  std::unordered_map<TenantId, Tenant> tenants_;
  std::optional<Time> handed_out_;
};

}  // namespace fairgv::daemon
