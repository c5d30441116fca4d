// The registry's part of memory: how much of a device a tenant may hold, and how much is kept for it.
#include <algorithm>

#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

Result<Tenant> TenantRegistry::set_memory(const std::string& name, MemorySize memory, uid_t by,
                                          bool administrator, std::span<const std::uint64_t> capacities) {
  FAIRGV_TRY(found, find_for_change(name, by, administrator, "memory"));
  Tenant& tenant = *found.value();
  if (administrator) {
    tenant.set_memory = memory;
    return tenant;
  }
  for (const std::uint64_t capacity : capacities) {
    const std::uint64_t most =
        tenant.set_memory ? tenant.set_memory->of(capacity) : configured_memory(name, capacity);
    if (memory.of(capacity) <= most) continue;
    return Error{"tenant '" + name + "' may not have " + to_text(memory) +
                 " of memory: the administrator allows " + readable_bytes(most)};
  }
  (tenant.set_memory ? tenant.set_memory : tenant.asked_memory) = memory;
  return tenant;
}

std::uint64_t TenantRegistry::configured_memory(const std::string& name, std::uint64_t capacity) const {
  return rule_of(name).memory.value_or(rules_.default_memory).of(capacity);
}

TenantRegistry::MemoryBounds TenantRegistry::memory_bounds(const std::string& name,
                                                           std::uint64_t capacity) const {
  const auto reserve = rules_.of(name).memory_reserve;
  MemoryBounds bounds{configured_memory(name, capacity), reserve ? reserve->of(capacity) : 0};
  const auto found = tenants_.find(name);
  const Tenant* const tenant = found == tenants_.end() ? nullptr : &found->second;
  if (tenant == nullptr) return bounds;
  if (tenant->set_memory) {
    bounds.limit = tenant->set_memory->of(capacity);
  } else if (tenant->asked_memory) {
    bounds.limit = std::min(bounds.limit, tenant->asked_memory->of(capacity));
  }
  return bounds;
}

}  // namespace fairgv::daemon
