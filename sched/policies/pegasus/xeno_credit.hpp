// `xeno-credit`: as `acc-credit`, but by the credits that the host's scheduler has for the tenant's
// programs (Pegasus, section 4.3, "XenoCredit (XC) [proportional fair-share]").
//
// These are `TenantAttributes::host_weight`, cpu.weight of the programs' control group. The weight on the
// device is ignored. Where nobody says otherwise all tenants have 100, and get equal turns.
#pragma once

#include <algorithm>

#include "sched/policies/pegasus/ring.hpp"

namespace fairgv::sched {

class XenoCreditPolicy final : public RingPolicy {
 public:
  using RingPolicy::RingPolicy;

  HostInterest host_interest() const override { return {std::nullopt, true}; }

 private:
  std::uint32_t credits_of(const TenantAttributes& attributes) const override {
    return std::max(attributes.host_weight, 1U);
  }
};

}  // namespace fairgv::sched
