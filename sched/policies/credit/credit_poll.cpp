#include "sched/policies/credit/credit_poll.hpp"

namespace fairgv::sched {

std::optional<Time> CreditPollPolicy::pause(TenantId id, Time now) {
  return keep(id, now);
}

TurnEnd CreditPollPolicy::turn_end() const {
  return TurnEnd::clock;
}

}  // namespace fairgv::sched
