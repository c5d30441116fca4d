#include "sched/policies/round_robin.hpp"

namespace fairgv::sched {

Duration RoundRobinPolicy::turn_length() const {
  return slice();
}

}  // namespace fairgv::sched
