// `aug-credit`: credits, boosted while the host runs the tenant's programs (Pegasus, section 4.3,
// "Augmented credit-based scheme (AugC) [throughput improvement by temporary credit boost]", and Algorithm
// 2).
//
// For each tick the ready tenant with the highest AugCredit + X is picked. AugCredit is what is left of
// its credits on the host, if the host's scheduler has scheduled it; else 0. The boost is temporary: it
// never changes X, and is gone with the host's schedule.
//
// Chosen here, for "no domain with high accelerator credits is denied its eventual turn due to this
// temporary boost": only tenants that have some of their X left in this round are candidates. So a boost
// changes the order within a round, and every ready tenant gets the ticks that its credits are worth
// before anybody gets more.
#pragma once

#include "sched/policies/pegasus/coordinated.hpp"

namespace fairgv::sched {

class AugCreditPolicy final : public CoordinatedPolicy {
 public:
  using CoordinatedPolicy::CoordinatedPolicy;

 private:
  TenantId pick(Time now) const override;
  bool scheduled_only() const override { return false; }
};

}  // namespace fairgv::sched
