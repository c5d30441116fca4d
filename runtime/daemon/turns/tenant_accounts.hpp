// The tenants of one device: their attributes, their use of it, and how long they waited for it.
//
// An account stays while its tenant has no session, because its debt and its totals must stay. Pure logic;
// time is an argument. Not thread-safe: the dispatcher owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "runtime/daemon/books/usage_window.hpp"
#include "runtime/daemon/books/wait_histogram.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

/// A tenant's past on a device, apart from what is in the shared pages of its sessions.
struct TenantBooks {
  std::chrono::nanoseconds device_time{0};
  std::chrono::nanoseconds outside{0};  // the part without a turn
  WorkCounters ended{};                 // of its sessions that are gone
  WaitHistogram waits{};                // waits for a turn
  sched::TenantBudget budget{};         // the state of its promises
};

struct TenantAccount {
  using Duration = sched::Duration;

  sched::TenantAttributes attributes;  // in force
  sched::Share wanted_max{};           // the tenant's own ceiling,
  std::optional<sched::Share> cap{};   // and what holds instead, of a device that is oversold
  sched::TenantBudget budget{};        // when a policy was asked last
  Duration device_time{0};
  Duration outside{0};   // the part for use without a turn
  Duration in_turns{0};  // the part since begin_activity()
  UsageWindow window;
  WorkCounters ended;  // of its sessions that are gone
  Waits waits;

  TenantBooks books() const { return {device_time, outside, ended, waits.all(), budget}; }
  void restore(const TenantBooks& books);
  /// The tenant was charged for use between `from` and now.
  void charge(Duration used, sched::Time from, sched::Time now);
};

class TenantAccounts {
 public:
  using Map = std::unordered_map<TenantId, TenantAccount>;

  /// Returns false if the tenant is there already.
  bool add(TenantId id, const sched::TenantAttributes& attributes);
  void forget(TenantId id) { accounts_.erase(id); }
  bool knows(TenantId id) const { return accounts_.contains(id); }

  TenantAccount* find(TenantId id);
  /// The tenant must be there.
  TenantAccount& at(TenantId id) { return accounts_.at(id); }
  const TenantAccount& at(TenantId id) const { return accounts_.at(id); }
  const Map& all() const { return accounts_; }
  Map& all() { return accounts_; }

  /// Counts from now on which tenants use the device in turns.
  void begin_activity();

 private:
  Map accounts_;
};

}  // namespace fairgv::daemon
