// The base of `credit-poll`, `credit-hs` and `strict-cosched`: Credit scheduling as FairGV (section 5.3) took
// it over from the CPU scheduler of Xen for comparison, "simple time-sharing based on a time slice".
//
// Tenants hold credits, which are time. A turn is a slice. The tenant pays by the clock from the turn's
// beginning to its end, but never more than the slice. Tenants with credits left (UNDER) go before tenants
// that have overdrawn (OVER); within each class tenants take turns. Paid credits are handed out again in
// proportion to the weights, once they add up to a slice (the period).
//
// The paper names no numbers. Chosen here:
// - From Xen: credits stay within a slice of zero either way, period and slice are equal, and only tenants
//   that have been runnable in the period receive. Left out: Xen's boost of waking
//   domains, since the papers apply it to host processors only, and its ticks, since a turn's beginning and
//   end are known exactly.
// - The period is counted in time paid and not by the clock. Xen pays for every tick, so there both are the
//   same. Here the clock would also hand out time that nobody pays for (the overrun of a turn, which makes
//   the slope of figure 11), until all tenants were UNDER and weights had no effect.
//
// budget() has a tenant's credits in `reserve.left`; restore() takes them over, within a slice of zero.
//
// O(n) once per period, O(1) otherwise: as in Xen, and good enough for comparison.
#pragma once

#include <unordered_map>

#include "sched/arrival_queue.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class CreditPolicy : public Policy {
 public:
  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  /// Ignored: time-sharing does not measure.
  void charge(TenantId id, Duration used, Time now) override;
  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  void end(TenantId id, Time now) override;

  /// For display and tests; throws std::out_of_range for an unknown tenant.
  Duration credit(TenantId id) const { return members_.at(id).credit; }

 protected:
  /// For pause(): the tenant keeps the device, and pays for it, until the slice is over.
  std::optional<Time> keep(TenantId id, Time now);
  /// For end(): the tenant pays for all of its slice, although it has not had it.
  void pay_whole_slice(TenantId id);
  /// Whether it does, and has come back to go on.
  bool kept_for(TenantId id, Time now) const;
  bool runnable(TenantId id) const { return under_.contains(id) || over_.contains(id); }

 private:
  /// Whether a tenant with nothing to issue gives its turn back.
  virtual bool gives_back() const { return false; }
  Turn turn_of(TenantId id, Duration slice) const;
  struct Member {
    std::uint32_t weight = kDefaultWeight;
    Duration credit{0};
    bool active = false;  // has been runnable in this period
  };

  /// The slice that was begun last.
  struct SliceInUse {
    TenantId tenant;
    Time paid_until;
    Time ends;
    bool kept = false;  // the turn is over, but the device is kept for the tenant
  };

  ArrivalQueue& lane(const Member& member) { return member.credit >= Duration(0) ? under_ : over_; }
  void pay(Time now);
  void change_credit(TenantId id, Member& member, Duration change);
  void hand_out();

  std::unordered_map<TenantId, Member> members_;
  ArrivalQueue under_, over_;  // runnable tenants
  std::optional<SliceInUse> in_use_;
  Duration paid_{0};  // credits not yet handed out
};

}  // namespace fairgv::sched
