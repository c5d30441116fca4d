// What run queues and policies refuse from their caller. Both throw std::invalid_argument: a fault of the
// caller's, since what comes from outside is checked where it comes in (is_valid_weight()).
#pragma once

#include "sched/types.hpp"

namespace fairgv::sched {

void require_valid_weight(TenantId id, std::uint32_t weight);
[[noreturn]] void refuse_known_tenant(TenantId id);

}  // namespace fairgv::sched
