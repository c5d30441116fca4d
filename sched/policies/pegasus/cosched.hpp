// `cosched`: the accelerator follows the host's schedule (Pegasus, section 4.2, "Strict co-scheduling
// (CoSched) [latency reduction by occasional unfairness]", and Algorithm 2).
//
// For each tick the tenant with the highest X is picked among those that are ready and that the host's
// scheduler has scheduled. If it has scheduled none of the ready tenants, the one with the highest X among
// all ready tenants is picked, "To improve GPU utilization". A tenant that the host runs gets new credits
// when it has used up its own, and the others wait although they have some. That is the occasional
// unfairness. When they are scheduled they go first, but no more than a round is ever made up for.
//
// `strict-cosched` (sched/policies/credit/strict_cosched.hpp) is the same idea as FairGV describes it,
// with preemption.
#pragma once

#include "sched/policies/pegasus/coordinated.hpp"

namespace fairgv::sched {

class CoschedPolicy final : public CoordinatedPolicy {
 public:
  using CoordinatedPolicy::CoordinatedPolicy;

 private:
  TenantId pick(Time now) const override;
  bool scheduled_only() const override { return true; }
};

}  // namespace fairgv::sched
