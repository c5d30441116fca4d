// `credit-poll`: Credit scheduling of tenants that poll (FairGV, section 5.3: "Credit-poll adopts continuous
// polling").
//
// - A turn is a slice by the clock, in which commands are issued as they come and nothing is measured
//   (section 3.3.1: such schedulers "just allow a vGPU to run for a time slice"). Commands that are still in
//   flight when the slice is over drain, and nobody pays for them: the longer the kernels that a tenant
//   queues, the more of the device it gets (the slope of figure 11).
// - A tenant with nothing to issue goes on polling until its slice is over: the device is kept for it and
//   stays idle (section 5.4.5, "non work-conserving execution").
//
// The paper applies polling to the guest's side of the ring; the device only sees that the guest keeps its
// slice.
#pragma once

#include "sched/policies/credit/credit.hpp"

namespace fairgv::sched {

class CreditPollPolicy final : public CreditPolicy {
 public:
  using CreditPolicy::CreditPolicy;

  std::optional<Time> pause(TenantId id, Time now) override;
};

}  // namespace fairgv::sched
