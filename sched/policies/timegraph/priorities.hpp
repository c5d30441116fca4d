// The order of TimeGraph's tasks (section 3): by static priority, and within the default priority the task
// in the foreground first (automatic GPU priority assignment, AGPA).
//
// The paper names no numbers. Chosen here: a specification's priorities are 1 to 99, as the real-time
// priorities of POSIX, and higher goes first. Automatic tasks have 50, in the middle, so that a designer can
// put tasks both above and below them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/attributes.hpp"

namespace fairgv::sched {

/// Of tenants without a specification.
inline constexpr std::int32_t kLowestPriority = 0;
inline constexpr std::int32_t kLeastStaticPriority = 1;
/// Of automatic tasks.
inline constexpr std::int32_t kDefaultPriority = 50;
inline constexpr std::int32_t kMostStaticPriority = 99;

/// Higher goes first.
using PriorityRank = std::int64_t;

/// admitted: a task whose reserve did not fit has the lowest priority, whatever its specification says.
constexpr PriorityRank rank_of(const TimeGraphTask& task, bool admitted) {
  const PriorityRank level = task.automatic ? kDefaultPriority : task.priority;
  const PriorityRank rank = 2 * level + (task.automatic && task.foreground ? 1 : 0);
  return admitted ? rank : std::min<PriorityRank>(rank, 2 * PriorityRank{kLowestPriority});
}

}  // namespace fairgv::sched
