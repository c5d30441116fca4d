// Attributes of the registry's tenants as others see and tell them: all promises, and the host's weights.
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

std::map<std::string, sched::TenantAttributes> TenantRegistry::promises() const {
  std::map<std::string, sched::TenantAttributes> promised;
  const auto add = [&promised](const std::string& name, const TenantRule& rule) {
    sched::TenantAttributes& attributes = promised[name];
    attributes.min = rule.min.value_or(attributes.min);
    attributes.max = rule.max.value_or(attributes.max);
    if (rule.service) attributes.service = rule.service->service;
  };
  for (const auto& [name, rule] : rules_.classes) add("[class." + name + "]", rule);
  for (const auto& [name, rule] : rules_.by_name) add(name, rules_.of(name));
  for (const auto& [name, tenant] : tenants_) {
    if (tenant.runs()) promised[name] = tenant.attributes;
  }
  return promised;
}

const Tenant* TenantRegistry::set_host_weight(TenantId id, std::uint32_t weight) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id != id || tenant.host_weight == weight) continue;
    tenant.host_weight = tenant.attributes.host_weight = weight;
    return &tenant;
  }
  return nullptr;
}

}  // namespace fairgv::daemon
