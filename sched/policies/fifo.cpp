#include "sched/policies/fifo.hpp"

namespace fairgv::sched {

Duration FifoPolicy::turn_length() const {
  return Duration(1);  // used up by any command
}

}  // namespace fairgv::sched
