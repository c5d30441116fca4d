#include "runtime/daemon/books/entitlement.hpp"

namespace fairgv::daemon {

using sched::WaterLevel;

void Entitlement::set(TenantId id, const sched::TenantAttributes& attributes, Time now) {
  count(id,
        {attributes.weight, attributes.min.share().ppm * WaterLevel::kPartsOfPpm,
         attributes.max.ppm * WaterLevel::kPartsOfPpm},
        now);
}

void Entitlement::count(TenantId id, const WaterLevel::Claim& claim, Time now) {
  per_weight_ = per_weight(now);
  changed_ = now;
  if (claim.weight > 0) {
    claims_[id] = claim;
  } else {
    claims_.erase(id);
  }
  level_.set(id, claim);
  auto changed = level_.take_changed();
  changed.push_back(id);
  for (const TenantId each : changed) {
    Tenant& tenant = tenants_[each];
    settle(tenant, now);
    const auto found = claims_.find(each);
    const WaterLevel::Claim own = found == claims_.end() ? WaterLevel::Claim{} : found->second;
    const bool full = level_.is_full(each);
    tenant.weight = full ? 0 : own.weight;
    tenant.fixed = static_cast<double>(full ? own.most : own.least) / static_cast<double>(WaterLevel::kWhole);
  }
  // Begins anew when there are no sessions: the numbers would otherwise lose precision.
  if (!level_.empty()) return;
  per_weight_ = 0;
  for (auto& [other, each] : tenants_) each.since = 0;
}

void Entitlement::settle(Tenant& tenant, Time now) const {
  tenant.sum += tenant.grown(per_weight_, now);
  tenant.since = per_weight_;
  tenant.set_at = now;
}

Entitlement::Duration Entitlement::of(TenantId id, Time now) const {
  const auto found = tenants_.find(id);
  if (found == tenants_.end()) return Duration(0);
  const Tenant& tenant = found->second;
  return Duration(static_cast<std::int64_t>(tenant.sum + tenant.grown(per_weight(now), now)));
}

void Entitlement::forget(TenantId id, Time now) {
  remove(id, now);
  tenants_.erase(id);
}

double Entitlement::per_weight(Time now) const {
  return per_weight_ + level_.level() * static_cast<double>((now - changed_).count());
}

}  // namespace fairgv::daemon
