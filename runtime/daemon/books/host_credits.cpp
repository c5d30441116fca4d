#include "runtime/daemon/books/host_credits.hpp"

#include <algorithm>

namespace fairgv::daemon {

void HostCredits::ran(TenantId id, std::uint32_t weight, Duration ran) {
  Tenant& tenant = tenants_[id];
  tenant.weight = std::max<std::int64_t>(weight, 1);
  tenant.left = std::max(tenant.left - ran, -whole_);
  tenant.active = tenant.active || ran > Duration(0);
}

void HostCredits::pass(Time now) {
  if (!handed_out_) handed_out_ = now;
  const std::int64_t periods = (now - *handed_out_) / kPeriod;
  if (periods == 0) return;
  if (periods > kMostPeriods) {
    tenants_.clear();
    handed_out_ = now;
    return;
  }
  *handed_out_ += kPeriod * periods;
  std::int64_t weights = 0;
  for (const auto& [id, tenant] : tenants_) weights += tenant.active ? tenant.weight : 0;
  for (auto& [id, tenant] : tenants_) {
    if (!tenant.active) continue;
    tenant.left = std::min(tenant.left + whole_ * periods * tenant.weight / weights, whole_);
    tenant.active = false;
  }
}

HostCredits::Duration HostCredits::left(TenantId id) const {
  const auto found = tenants_.find(id);
  return found == tenants_.end() ? Duration(0) : found->second.left;
}

}  // namespace fairgv::daemon
