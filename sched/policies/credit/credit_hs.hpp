// `credit-hs`: Credit scheduling with FairGV's hybrid spinning (FairGV, sections 5.3 and 3.2.2): a tenant
// with nothing to issue spins for a moment and then gives the device away, so that it is never kept idle.
//
// All else is `credit-poll`'s: a turn is a slice by the clock, in which nothing is measured ("simple
// time-sharing based on a time slice", section 5.3). Commands that are in flight when the slice is over
// drain, and nobody pays for them: long kernels get more than their share here, too.
//
// The worker does the spinning, and gives the turn back by itself.
#pragma once

#include "sched/policies/credit/credit.hpp"

namespace fairgv::sched {

class CreditHsPolicy final : public CreditPolicy {
 public:
  using CreditPolicy::CreditPolicy;

 private:
  bool gives_back() const override { return true; }
};

}  // namespace fairgv::sched
