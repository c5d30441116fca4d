// `fair-paper` and `fair-paper-idle`: start-time fair queuing exactly as FairGV publishes it (sections
// 3.2.1 to 3.2.3), for comparison with `fair`.
//
// - Start tags, finish tags and virtual time are FairQueue's. A tenant that wakes gets S = V, however
//   short its pause, if its own tag is smaller (section 3.2.1, figure 4): no credit, no lead, no
//   anticipation.
// - A turn is a slice of measured device time. The paper's slices, 6 ms where kernels cannot be
//   interrupted and 30 ms where they can, are the caller's.
// - `fair-paper` conserves work: a tenant with nothing to issue gives the device to the next. The short
//   spinning before that ("hybrid spinning", section 3.2.2) is the worker's.
// - `fair-paper-idle` is the same without work conservation, for figure 10: a tenant with nothing to issue
//   goes on polling, and has the device until its slice has passed since the turn began. Nobody is charged
//   for the idle time, since only requests are accounted (section 3.3.1).
// - GPU-centric coscheduling (section 3.2.3): the host side of an interactive program is woken with its
//   turn (Turn::switch_in). host() is not needed: the host follows the device.
//
// While nobody is runnable virtual time stands still, also on a device that rests.
//
// budget() has the time that a tenant has used beyond virtual time in `ahead`. restore() takes over what
// is positive; nobody is owed time. Until the first turn begins, tenants wake with these tags, whoever
// wakes first.
#pragma once

#include "sched/fair_queue.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class FairPaperPolicy : public Policy {
 public:
  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  void charge(TenantId id, Duration used, Time now) override;
  bool may_forget(TenantId id) const override;
  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;

  /// For display and tests.
  const FairQueue& queue() const { return queue_; }

 private:
  FairQueue queue_;
  bool begun_ = false;  // there has been a turn
};

class FairPaperIdlePolicy final : public FairPaperPolicy {
 public:
  using FairPaperPolicy::FairPaperPolicy;

  void remove(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  std::optional<Time> pause(TenantId id, Time now) override;

 private:
  bool kept(Time now) const { return owner_ && kept_ && now < turn_ends_; }

  std::optional<TenantId> owner_;  // of the turn that was begun last
  Time turn_ends_{};
  bool kept_ = false;  // the tenant has paused, and the device is kept for it
};

}  // namespace fairgv::sched
