// A point in time as the whole scheduler has it.
#pragma once

#include <chrono>

#include "sched/types.hpp"

namespace fairgv::sched {

/// On the caller's monotonic clock, real or simulated.
using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

}  // namespace fairgv::sched
