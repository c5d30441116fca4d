// Whether the program's threads run together with its turns (GPU-centric coscheduling; FairGV, section
// 3.2.3): the worker classifies its program and names in the turn page the CPU to wake, and the client spins
// or sleeps by the segment's hints. Externally synchronised.
#pragma once

#include <cstdint>

#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/turn/offer.hpp"
#include "sched/interactivity.hpp"

namespace fairgv::vgpu {

class Interactive {
 public:
  /// `coscheduling` may be null: then nothing is done. Both outlive this.
  Interactive(session::DeviceTurn& turn, ring::Coscheduling* coscheduling)
      : turn_(turn), coscheduling_(coscheduling) {}

  /// Once for each command. `cpu`: where the program was when it sent it. Tells the dispatcher what it needs
  /// to switch the session in the next time. The dispatcher never switches a lone tenant in, so a lone
  /// tenant's turn becomes one to spin through here.
  void sent_command(std::uint32_t cpu, TimePoint now) {
    if (coscheduling_ != nullptr) classify(cpu, now);
  }

  /// The device is not this session's any more. `last_use`: when the session last used it.
  void switch_out(TimePoint last_use) {
    if (coscheduling_ == nullptr) return;
    classifier_.suspend(last_use);
    coscheduling_->switch_out();
  }

 private:
  void classify(std::uint32_t cpu, TimePoint now);

  session::DeviceTurn& turn_;
  ring::Coscheduling* const coscheduling_;
  sched::InteractivityClassifier classifier_;
};

}  // namespace fairgv::vgpu
