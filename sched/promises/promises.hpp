// Promises to the tenants of one device beyond their weights: guarantees, the floor of the batch class, and
// ceilings. The part of `fair` that tenants without promises do not need.
//
// A tenant that has reached its ceiling is *held back*: it has work, and takes no part in the sharing until
// take_released() returns it.
//
// Pure logic, time is an argument; not thread-safe, one owner, a policy. Calls about tenants without promises
// do nothing. O(log n).
#pragma once

#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sched/budget.hpp"
#include "sched/promises/ceiling.hpp"
#include "sched/promises/guarantees.hpp"
#include "sched/run_heap.hpp"

namespace fairgv::sched {

class Promises {
 public:
  /// The device time that all batch tenants together have in any case.
  static constexpr Reservation kBatchFloor{std::chrono::milliseconds(5), std::chrono::milliseconds(100)};

  /// A guarantee that is to be served: a tenant's, or the floor of the batch class.
  struct Due {
    std::optional<TenantId> tenant;  // none: the floor
    Duration quantum{0};             // the longest turn for it
    friend bool operator==(const Due&, const Due&) = default;
  };

  Promises();

  /// Whether the attributes promise anything that this class keeps.
  static bool any(const TenantAttributes& attributes) {
    return !attributes.min.empty() || attributes.max < kWholeDevice;
  }
  /// Gives the tenant these promises instead of those that it had.
  void set(TenantId id, const TenantAttributes& attributes, Time now);
  void remove(TenantId id);

  /// The tenant has work. False: its ceiling holds it back.
  bool wake(TenantId id, Time now, bool short_pause);
  void block(TenantId id);
  /// Batch tenants want the device beside others, or do so no longer.
  void batch_wants(bool wants, Time now);

  /// Holds a tenant that has work back if its ceiling is reached. True: it is held back now.
  bool hold_back(TenantId id, Time now);
  bool is_held(TenantId id) const;
  /// A tenant that is held back no longer, one after another.
  std::optional<TenantId> take_released(Time now);
  /// When the next tenant is released.
  std::optional<Time> next_release() const;

  /// The guarantee that is to be served before anything else.
  std::optional<Due> due(Time now) const;
  /// When a guarantee becomes due, if none is.
  std::optional<Time> next_due() const { return guarantees_.next_due(); }
  /// The device was used for this guarantee.
  void serve(const Due& due, Duration used);
  /// The tenant had the device to itself for this long, until now.
  void had_alone(TenantId id, Duration time, Time now);
  /// The batch class had it so: that counts for its floor of the next period, too.
  void batch_had_alone(Duration time, Time now);

  /// The tenant has used the device for this long, whatever for.
  void used(TenantId id, Duration used, Time now);
  /// Device time that the tenant's ceiling leaves it; none: it has no ceiling.
  std::optional<Duration> left(TenantId id, Time now);
  bool has_ceiling(TenantId id) const;
  bool has_guarantee(TenantId id) const;

  /// Whether forgetting the tenant's promises would refill nothing.
  bool may_forget(TenantId id, Time now) const;
  void save(TenantId id, TenantBudget& to) const;
  void restore(TenantId id, const TenantBudget& from);
  /// The floor has been served up to this moment.
  Time floor_until() const { return guarantees_.served_until(kFloor); }
  void restore_floor(Time until);

 private:
  using Slot = RunHeap::Slot;
  static constexpr Slot kFloor = 0;

  struct Tenant {
    Slot slot = 0;
    bool runnable = false;
    bool held = false;
    std::optional<Ceiling> ceiling{};
  };

  Tenant& enter(TenantId id);
  Tenant* find(TenantId id) { return const_cast<Tenant*>(std::as_const(*this).find(id)); }
  const Tenant* find(TenantId id) const;

  Guarantees guarantees_;
  RunHeap held_;  // tenants that are held back, by the time of their release
  std::unordered_map<TenantId, Tenant> tenants_;
  /// The answer of the last look-up: most calls concern the tenant whose turn it is.
  mutable std::optional<TenantId> last_;
  mutable const Tenant* last_found_ = nullptr;
  std::vector<TenantId> by_slot_{TenantId{}};  // kFloor is nobody's
  std::vector<Slot> free_slots_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace fairgv::sched
