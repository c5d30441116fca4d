// `round-robin`: everybody in turn, a slice each, whatever the weights (Pegasus, section 4.3, "Round robin
// (RR) [fair-share]").
//
// The paper says only that this policy is independent of the hypervisor. Chosen here: a turn is a slice of
// measured device time; a tenant that overruns it owes nothing; a tenant with nothing to issue gives its turn
// away.
#pragma once

#include "sched/policies/in_turn.hpp"

namespace fairgv::sched {

class RoundRobinPolicy final : public InTurnPolicy {
 public:
  using InTurnPolicy::InTurnPolicy;

 private:
  Duration turn_length() const override;
};

}  // namespace fairgv::sched
