// Guaranteed device time of the tenants of one device: decides which guarantee is to be served next.
//
// A guarantee is a budget C in every period T. It has one number, the moment G up to which it has been
// served: using the device for l moves it by l * T / C. A tenant that has work is *due* when G is not in the
// future, and the due one with the earliest deadline G + T goes first. That is earliest deadline first over
// the requests of constant-bandwidth servers (Abeni and Buttazzo 1998), in real time instead of virtual time.
// The budget is not refilled at fixed moments, so nobody can use two budgets at the border of two periods.
//
// A time for which the tenant has the device to itself serves its guarantee, too, but not ahead of time.
// Without that rule it would claim the guarantee of all that time as soon as others come.
//
// A tenant that wakes is due from now on, not for the time for which it slept. After a pause that is taken to
// be short it may be behind by up to its own period, so that a pause between two kernels costs it nothing.
//
// Guarantees that add up to less than the device are kept: docs/SCHEDULING.md, theorem 5.
//
// Pure logic, time is an argument; not thread-safe, one owner, who numbers the tenants with small numbers.
// O(log n).
#pragma once

#include <optional>
#include <vector>

#include "sched/attributes.hpp"
#include "sched/run_heap.hpp"
#include "sched/time.hpp"

namespace fairgv::sched {

class Guarantees {
 public:
  using Slot = RunHeap::Slot;

  /// The longest period: products of two times must fit into 64 bits.
  static constexpr Duration kLongestPeriod = std::chrono::seconds(1);

  /// Gives the tenant a guarantee, or changes it: what was served stays served. Its period is at most
  /// kLongestPeriod, its budget at most its period.
  void set(Slot slot, const Reservation& reservation, Time now);
  /// The tenant has none any more.
  void clear(Slot slot);
  bool has(Slot slot) const { return slot < tenants_.size() && !tenants_[slot].reservation.empty(); }
  bool empty() const { return count_ == 0; }

  /// The tenant has something to run; `short_pause`: it has not been away for long.
  void wake(Slot slot, Time now, bool short_pause);
  void block(Slot slot);

  /// The tenant whose guarantee is to be served now, if there is one.
  std::optional<Slot> due(Time now) const;
  /// When the next guarantee becomes due, if none is.
  std::optional<Time> next_due() const;
  /// The longest turn for a guarantee: its budget.
  Duration quantum(Slot slot) const { return tenants_[slot].reservation.budget; }
  /// The device was used for the guarantee.
  void charge(Slot slot, Duration used);
  /// The tenant had the device to itself for this long. That serves the guarantee, but not beyond `until`.
  void charge_alone(Slot slot, Duration time, Time until);

  /// G.
  Time served_until(Slot slot) const { return tenants_[slot].served_until; }
  void set_served_until(Slot slot, Time until) { tenants_[slot].served_until = until; }

 private:
  struct Tenant {
    Reservation reservation{};
    Time served_until{};
    bool runnable = false;
  };

  void move_to(Slot slot, Time until);
  void line_up(Slot slot);
  void leave(Slot slot);
  void admit_due(Time now) const;

  std::vector<Tenant> tenants_;  // by slot
  std::size_t count_ = 0;        // of guarantees
  // Each runnable tenant is in one of them; time alone moves it on, whenever somebody asks.
  mutable RunHeap early_;  // by G
  mutable RunHeap due_;    // by deadline
  mutable std::uint64_t arrivals_ = 0;
};

}  // namespace fairgv::sched
