// The checks of run queues and policies on their caller. Both throw std::invalid_argument for a fault of the
// caller, because outside values are checked where they come in (is_valid_weight()).
#pragma once

#include "sched/types.hpp"

namespace fairgv::sched {

void require_valid_weight(TenantId id, std::uint32_t weight);
[[noreturn]] void refuse_known_tenant(TenantId id);

}  // namespace fairgv::sched
