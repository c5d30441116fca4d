// `credit-hs`: Credit scheduling with FairGV's hybrid spinning (FairGV, sections 5.3 and 3.2.2): a tenant
// with nothing to issue spins for a moment and then gives the device away, so that it is never kept idle.
//
// The worker does the spinning. It gives a turn back by itself only if the turn is measured. So turns are
// measured here, but paid for by the clock, as in all Credit scheduling.
#pragma once

#include "sched/policies/credit/credit.hpp"

namespace fairgv::sched {

class CreditHsPolicy final : public CreditPolicy {
 public:
  using CreditPolicy::CreditPolicy;

 private:
  TurnEnd turn_end() const override;
};

}  // namespace fairgv::sched
