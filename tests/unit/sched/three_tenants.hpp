// The tenants of the scheduler's tests.
#pragma once

#include "sched/types.hpp"

namespace fairgv::sched {

inline constexpr TenantId kA{1};
inline constexpr TenantId kB{2};
inline constexpr TenantId kC{3};

}  // namespace fairgv::sched
