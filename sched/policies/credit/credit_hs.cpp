#include "sched/policies/credit/credit_hs.hpp"

namespace fairgv::sched {

TurnEnd CreditHsPolicy::turn_end() const {
  return TurnEnd::measured;
}

}  // namespace fairgv::sched
