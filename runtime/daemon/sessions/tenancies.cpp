#include "runtime/daemon/sessions/tenancies.hpp"

#include <chrono>
#include <string_view>
#include <utility>

#include "runtime/daemon/tenants/remembered_tenants.hpp"

namespace fairgv::daemon {
namespace {

/// The policy whose reserves need an admission control.
constexpr std::string_view kTimeGraph = "timegraph";

}  // namespace

Tenancies::Tenancies(const Config& config, DispatchLoop& dispatch)
    : config_(config), dispatch_(dispatch), registry_(config.tenants) {
  TenantReserves(registry_).admit(dispatch_.looks().goes_by(kTimeGraph));
}

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

std::vector<std::string> Tenancies::configure() {
  registry_.configure(config_.tenants);
  std::vector<std::string> lost = admit_reserves();
  refresh_memory();
  return lost;
}

std::vector<std::string> Tenancies::admit_reserves() {
  std::vector<std::string> lost = TenantReserves(registry_).admit(dispatch_.looks().goes_by(kTimeGraph));
  for (const Tenant& tenant : registry_.all()) apply_attributes(tenant);
  return lost;
}

void Tenancies::bring_to_front(std::set<std::string> names) {
  for (const Tenant& tenant : TenantReserves(registry_).bring_to_front(std::move(names)))
    apply_attributes(tenant);
}

}  // namespace fairgv::daemon
