// A fair queue's tenants, and the unit of its tags.
#pragma once

#include <cstdint>

#include "sched/fair_queue.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {

inline constexpr double kMillisecond = 1e6;

inline void add_runnable(FairQueue& queue, TenantId id, std::uint32_t weight = 1) {
  queue.add(id, weight);
  queue.wake(id);
}

}  // namespace fairgv::sched
