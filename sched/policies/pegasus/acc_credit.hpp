// `acc-credit`: turns in proportion to the credits on the accelerator, which are the weights (Pegasus,
// section 4.1, "AccCredit (AccC) [proportional fair-share]"). The host's schedule does not matter.
#pragma once

#include "sched/policies/pegasus/ring.hpp"

namespace fairgv::sched {

class AccCreditPolicy final : public RingPolicy {
 public:
  using RingPolicy::RingPolicy;

 private:
  std::uint32_t credits_of(const TenantAttributes& attributes) const override { return attributes.weight; }
};

}  // namespace fairgv::sched
