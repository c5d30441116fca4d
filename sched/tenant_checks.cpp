#include "sched/tenant_checks.hpp"

#include <stdexcept>
#include <string>

namespace fairgv::sched {

void require_valid_weight(TenantId id, std::uint32_t weight) {
  if (is_valid_weight(weight)) return;
  throw std::invalid_argument("weight " + std::to_string(weight) + " of tenant " + std::to_string(id.value) +
                              " is not between " + std::to_string(kMinWeight) + " and " +
                              std::to_string(kMaxWeight));
}

void refuse_known_tenant(TenantId id) {
  throw std::invalid_argument("tenant " + std::to_string(id.value) + " is here already");
}

}  // namespace fairgv::sched
