#include "runtime/daemon/books/entitlement.hpp"

namespace fairgv::daemon {

void Entitlement::set(TenantId id, std::uint32_t weight, Time now) {
  Tenant& tenant = tenants_[id];
  per_weight_ = per_weight(now);
  changed_ = now;
  tenant.sum += tenant.weight * (per_weight_ - tenant.since);
  tenant.since = per_weight_;
  weights_ = weights_ - tenant.weight + weight;
  tenant.weight = weight;
  // Begins anew when there are no sessions: the number would otherwise grow, and a double would lose
  // precision.
  if (weights_ != 0) return;
  per_weight_ = 0;
  for (auto& [other, each] : tenants_) each.since = 0;
}

Entitlement::Duration Entitlement::of(TenantId id, Time now) const {
  const auto found = tenants_.find(id);
  if (found == tenants_.end()) return Duration(0);
  const Tenant& tenant = found->second;
  return Duration(static_cast<std::int64_t>(tenant.sum + tenant.weight * (per_weight(now) - tenant.since)));
}

double Entitlement::share(TenantId id) const {
  const auto found = tenants_.find(id);
  if (found == tenants_.end() || weights_ == 0) return 0;
  return static_cast<double>(found->second.weight) / static_cast<double>(weights_);
}

void Entitlement::forget(TenantId id, Time now) {
  set(id, 0, now);
  tenants_.erase(id);
}

double Entitlement::per_weight(Time now) const {
  if (weights_ == 0) return per_weight_;
  return per_weight_ + static_cast<double>((now - changed_).count()) / static_cast<double>(weights_);
}

}  // namespace fairgv::daemon
