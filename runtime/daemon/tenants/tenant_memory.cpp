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

std::uint64_t TenantRegistry::memory_limit(const std::string& name, std::uint64_t capacity) const {
  const auto found = tenants_.find(name);
  const Tenant* const tenant = found == tenants_.end() ? nullptr : &found->second;
  if (tenant != nullptr && tenant->set_memory) return tenant->set_memory->of(capacity);
  const std::uint64_t most = configured_memory(name, capacity);
  return tenant != nullptr && tenant->asked_memory ? std::min(most, tenant->asked_memory->of(capacity))
                                                   : most;
}

std::uint64_t TenantRegistry::memory_reserve(const std::string& name, std::uint64_t capacity) const {
  const auto reserve = rules_.of(name).memory_reserve;
  return reserve ? reserve->of(capacity) : 0;
}

}  // namespace fairgv::daemon
