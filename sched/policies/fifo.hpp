// `fifo`: commands in the order in which they come, as the driver alone would serve them (Pegasus, section
// 4.1, "No scheduling in backend (None)"; FairGV, section 3.3: without preemption "GPU requests are processed
// serially in a GPU on a first come, first served basis").
//
// Both papers leave the queue to the driver. Here one session has the device at a time, so a turn is one
// command, and the next one is that of the tenant that has waited longest. Shares follow the length of the
// tenants' kernels: the longer the kernel, the more of the device (the slope of FairGV's figure 11).
#pragma once

#include "sched/policies/in_turn.hpp"

namespace fairgv::sched {

class FifoPolicy final : public InTurnPolicy {
 public:
  using InTurnPolicy::InTurnPolicy;

 private:
  Duration turn_length() const override;
};

}  // namespace fairgv::sched
