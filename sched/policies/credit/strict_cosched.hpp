// `strict-cosched`: Credit scheduling of a device to which the host's scheduler sends coscheduling
// requests (FairGV, section 3.2.3, algorithms 1 and 2; the idea is that of Pegasus, section 4.2): a tenant
// is to have the device while its host side has its processor. Not work-conserving.
//
// - The host's part (Algorithm 1): host() says which tenants' programs have a processor. As long as one
//   has it and its tenant wants the device, it requests the device for the tenant: whenever host() is
//   called, and when the tenant wakes.
// - The device's part (Algorithm 2): the tenant that has the device is preempted for the target of a
//   request if the target's credit is at least the highest of all competing targets: the tenants for which
//   other processors request the device at this time. Else it continues. Commands that are in flight end
//   first.
// - Everything else is Credit scheduling, with slices by the clock. The device is kept for a tenant that
//   pauses until its slice is over, but only while the tenant's program has a processor: it could not come
//   back.
// - The preempted tenant "is put at the tail of its priority list without fully spending its time slice".
//   It has paid for the slice (see below) and waits for a turn of all others. So tenants that are
//   preempted more often than others, measured by what they are due, get less of the device: the
//   unfairness that the paper reports.
//
// Chosen here:
// - A preempted tenant pays for its whole slice. Xen's scheduler charges whole ticks to whoever has the
//   processor, too. If it paid for the part that it had, its credits would bring back some of it later.
// - A request holds at most for 30 ms, Xen's period, if host() is not called again.
// - As long as host() has never been called, the policy plays the host's scheduler itself
//   (played_host.hpp). One processor's schedule has no rivals, so the condition of Algorithm 2 holds
//   always, and the device simply follows the schedule.
#pragma once

#include <set>
#include <unordered_map>

#include "sched/policies/credit/credit.hpp"
#include "sched/policies/credit/played_host.hpp"

namespace fairgv::sched {

class StrictCoschedPolicy final : public CreditPolicy {
 public:
  /// A request of the host holds for so long.
  static constexpr Duration kRequest = std::chrono::milliseconds(30);
  /// Xen's scheduler samples its processors this often.
  static constexpr Duration kHostTick = std::chrono::milliseconds(10);

  using CreditPolicy::CreditPolicy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  HostInterest host_interest() const override { return {kHostTick, false}; }
  void host(TenantId id, const HostState& state, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  void end(TenantId id, Time now) override;
  std::optional<Time> pause(TenantId id, Time now) override;
  std::optional<Time> preempts(TenantId newcomer, TenantId holder, Time now) const override;
  bool must_yield(TenantId holder, Time now) override;

 private:
  bool on_processor(TenantId id, Time now) const;
  bool wanted_by_host(TenantId id, Time now) const;
  std::optional<TenantId> accepted(Time now) const;

  PlayedHost played_;
  bool hosted_ = false;                           // the real host's scheduler has told something
  std::unordered_map<TenantId, Time> scheduled_;  // tenants with a processor: when that was told last
  std::set<TenantId> requests_;                   // the targets of requests that are not decided yet
};

}  // namespace fairgv::sched
