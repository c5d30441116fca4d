#include "runtime/daemon/sessions/tenancies.hpp"

#include <chrono>
#include <vector>

#include "runtime/daemon/tenants/remembered_tenants.hpp"

namespace fairgv::daemon {

Result<Tenant> Tenancies::join(const std::string& name, const TenantRegistry::Applicant& who,
                               const session::TenantWish& wish, std::optional<MemorySize> memory) {
  auto tenant = registry_.join(name, who, wish, memory);
  if (tenant) refresh_memory();
  return tenant;
}

void Tenancies::give_up(TenantId id) {
  registry_.retire(id);
  registry_.leave(id);
}

void Tenancies::leave(TenantId id) {
  registry_.leave(id);
  refresh_memory();
  const std::vector<TenantId> departed = tenants_to_forget(registry_.all());
  if (departed.empty()) return;
  about_to_forget();
  for (const TenantId each : departed) {
    if (dispatch_.forget_if_clear(each)) registry_.forget(each);
  }
}

void Tenancies::account_memory(const std::string& tenant) {
  memory_.account(tenant, std::chrono::steady_clock::now());
}

void Tenancies::configure() {
  registry_.configure(config_.tenants);
  for (const Tenant& tenant : registry_.all()) apply_attributes(tenant);
  refresh_memory();
}

}  // namespace fairgv::daemon
