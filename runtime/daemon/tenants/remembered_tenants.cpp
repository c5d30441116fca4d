#include "runtime/daemon/tenants/remembered_tenants.hpp"

#include <unordered_map>

#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {

std::vector<TenantId> tenants_to_forget(const std::vector<Tenant>& tenants) {
  std::unordered_map<uid_t, std::size_t> departed;
  std::size_t all = 0;
  for (const Tenant& tenant : tenants) {
    if (tenant.sessions != 0) continue;
    ++departed[tenant.uid];
    ++all;
  }
  std::vector<TenantId> list;
  for (const Tenant& tenant : tenants) {
    // A user could make the daemon remember any number of paused names.
    const bool kept = tenant.paused && tenant.paused->administrator;
    if (tenant.sessions != 0 || kept) continue;
    const bool too_many = !is_administrator(tenant.uid) && departed.at(tenant.uid) > kRememberedOfEach;
    if (too_many || all > kRememberedOfAll) list.push_back(tenant.id);
  }
  return list;
}

}  // namespace fairgv::daemon
