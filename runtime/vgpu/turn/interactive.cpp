#include "runtime/vgpu/turn/interactive.hpp"

namespace fairgv::vgpu {

void Interactive::classify(std::uint32_t cpu, TimePoint now) {
  classifier_.observe(coscheduling_->synchronous_calls.load(std::memory_order_relaxed), now);
  const std::uint32_t interactive_cpu = classifier_.interactive() ? cpu + 1 : 0;
  // Looked at first: the page's line stays shared while nothing changes.
  if (turn_.interactive_cpu.load(std::memory_order_relaxed) != interactive_cpu) {
    turn_.interactive_cpu.store(interactive_cpu, std::memory_order_relaxed);
  }
  if (classifier_.interactive() == coscheduling_->switched_in()) return;
  if (classifier_.interactive()) {
    coscheduling_->switch_in();
  } else {
    coscheduling_->switch_out();
  }
}

}  // namespace fairgv::vgpu
