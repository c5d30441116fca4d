#include "sched/policies/credit/credit_poll.hpp"

namespace fairgv::sched {

std::optional<Time> CreditPollPolicy::pause(TenantId id, Time now) {
  return keep(id, now);
}

}  // namespace fairgv::sched
