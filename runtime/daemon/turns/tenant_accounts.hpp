// The tenants of one device: their weights, what they have used of it, and how long they waited for it.
//
// They stay while a tenant has no session, for its debt and its totals must. Pure logic, time is an argument;
// not thread-safe, the dispatcher owns them.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>

#include "runtime/daemon/books/usage_window.hpp"
#include "runtime/daemon/books/wait_histogram.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

/// What is known of a tenant's past on a device beside what is in its sessions' shared pages.
struct TenantBooks {
  std::chrono::nanoseconds device_time{0};
  std::chrono::nanoseconds outside{0};  // of it
  WorkCounters ended{};                 // of its sessions that are gone
  WaitHistogram waits{};                // for a turn
};

struct TenantAccount {
  using Duration = sched::Duration;

  sched::TenantAttributes attributes;
  Duration device_time{0};
  Duration outside{0};   // of it, for use without a turn
  Duration in_turns{0};  // of it, since begin_activity()
  UsageWindow window;
  WorkCounters ended;  // of its sessions that are gone
  Waits waits;

  TenantBooks books() const { return {device_time, outside, ended, waits.all()}; }
  void restore(const TenantBooks& books);
  /// It was charged for use between `from` and now.
  void charge(Duration used, sched::Time from, sched::Time now);
};

class TenantAccounts {
 public:
  using Map = std::unordered_map<TenantId, TenantAccount>;

  /// False if it is there.
  bool add(TenantId id, std::uint32_t weight);
  void forget(TenantId id) { accounts_.erase(id); }
  bool knows(TenantId id) const { return accounts_.contains(id); }

  TenantAccount* find(TenantId id);
  /// Of one that is there.
  TenantAccount& at(TenantId id) { return accounts_.at(id); }
  const TenantAccount& at(TenantId id) const { return accounts_.at(id); }
  const Map& all() const { return accounts_; }

  /// From now on it counts who uses the device in turns.
  void begin_activity();

 private:
  Map accounts_;
};

}  // namespace fairgv::daemon
