#include "runtime/daemon/books/entitlement.hpp"

namespace fairgv::daemon {

void Entitlement::count(TenantId id, std::uint32_t weight, double min, Time now) {
  Tenant& tenant = tenants_[id];
  per_weight_ = per_weight(now);
  changed_ = now;
  tenant.sum += tenant.grown(per_weight_, now);
  tenant.since = per_weight_;
  tenant.set_at = now;
  weights_ = weights_ - tenant.weight + weight;
  mins_ += min - tenant.min;
  tenant.weight = weight;
  tenant.min = min;
  // Begins anew when there are no sessions: the numbers would otherwise lose precision.
  if (weights_ != 0) return;
  per_weight_ = mins_ = 0;
  for (auto& [other, each] : tenants_) each.since = 0;
}

Entitlement::Duration Entitlement::of(TenantId id, Time now) const {
  const auto found = tenants_.find(id);
  if (found == tenants_.end()) return Duration(0);
  const Tenant& tenant = found->second;
  return Duration(static_cast<std::int64_t>(tenant.sum + tenant.grown(per_weight(now), now)));
}

double Entitlement::share(TenantId id) const {
  const auto found = tenants_.find(id);
  if (found == tenants_.end() || weights_ == 0) return 0;
  const Tenant& tenant = found->second;
  return tenant.min + (1 - mins_) * tenant.weight / static_cast<double>(weights_);
}

void Entitlement::forget(TenantId id, Time now) {
  remove(id, now);
  tenants_.erase(id);
}

double Entitlement::per_weight(Time now) const {
  if (weights_ == 0) return per_weight_;
  return per_weight_ +
         (1 - mins_) * static_cast<double>((now - changed_).count()) / static_cast<double>(weights_);
}

}  // namespace fairgv::daemon
