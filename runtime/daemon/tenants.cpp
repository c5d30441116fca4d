#include "runtime/daemon/tenants.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

std::string user_text(uid_t uid) {
  return "user " + std::to_string(uid);
}

}  // namespace

std::uint32_t TenantRegistry::weight_of(const Tenant& tenant) const {
  const TenantRule& rule = rules_.of(tenant.name);
  if (tenant.set) return *tenant.set;
  if (rule.weight) return *rule.weight;
  const std::uint32_t cap = std::min(rules_.max_weight, rule.max_weight.value_or(sched::kMaxWeight));
  return std::min(tenant.asked.value_or(rules_.default_weight), cap);
}

Result<Tenant> TenantRegistry::join(const std::string& name, uid_t uid,
                                    std::optional<std::uint32_t> asked_weight) {
  const TenantRule& rule = rules_.of(name);
  if (rule.uid && *rule.uid != uid) {
    return Error{"tenant '" + name + "' is reserved for " + user_text(*rule.uid) + " and you are " +
                 user_text(uid) + ": choose another name with FAIRGV_TENANT"};
  }
  const auto found = tenants_.find(name);
  if (found != tenants_.end() && found->second.sessions > 0 && found->second.uid != uid) {
    return Error{"tenant '" + name + "' is in use by " + user_text(found->second.uid) + " and you are " +
                 user_text(uid) + ": choose another name with FAIRGV_TENANT"};
  }
  Tenant& tenant = tenants_[name];
  if (tenant.id == TenantId{}) tenant.id = TenantId{++last_id_};
  tenant.name = name;
  tenant.uid = uid;
  ++tenant.sessions;
  if (asked_weight) tenant.asked = asked_weight;
  tenant.weight = weight_of(tenant);
  return tenant;
}

void TenantRegistry::leave(TenantId id) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id != id || tenant.sessions == 0) continue;
    if (--tenant.sessions > 0) return;
    tenant.asked.reset();
    tenant.set.reset();
    return;
  }
}

Result<Tenant> TenantRegistry::set_weight(const std::string& name, std::uint32_t weight, uid_t by,
                                          bool administrator) {
  const auto found = tenants_.find(name);
  if (found == tenants_.end() || found->second.sessions == 0) {
    return Error{"there is no tenant '" + name + "' with a running program: see 'fairgv ps'"};
  }
  Tenant& tenant = found->second;
  if (administrator) {
    tenant.set = weight;
    tenant.weight = weight;
    return tenant;
  }
  if (by != tenant.uid) {
    return Error{"tenant '" + name + "' belongs to " + user_text(tenant.uid) +
                 ": only that user or the administrator may set its weight"};
  }
  Tenant wish = tenant;
  wish.asked = weight;
  if (const std::uint32_t allowed = weight_of(wish); allowed != weight) {
    return Error{"tenant '" + name + "' may not have weight " + std::to_string(weight) +
                 ": the administrator allows " + std::to_string(allowed)};
  }
  wish.weight = weight;
  tenant = wish;
  return tenant;
}

void TenantRegistry::configure(TenantRules rules) {
  rules_ = std::move(rules);
  for (auto& [name, tenant] : tenants_) tenant.weight = weight_of(tenant);
}

const Tenant* TenantRegistry::find(TenantId id) const {
  for (const auto& [name, tenant] : tenants_) {
    if (tenant.id == id) return &tenant;
  }
  return nullptr;
}

std::vector<Tenant> TenantRegistry::all() const {
  std::vector<Tenant> list;
  list.reserve(tenants_.size());
  for (const auto& [name, tenant] : tenants_) list.push_back(tenant);
  return list;
}

void TenantRegistry::forget(TenantId id) {
  std::erase_if(tenants_,
                [&](const auto& entry) { return entry.second.id == id && entry.second.sessions == 0; });
}

}  // namespace fairgv::daemon
