#include "runtime/daemon/turns/waiting_line.hpp"

namespace fairgv::daemon {

void WaitingLine::add(PlaceId id, TenantId tenant) {
  by_tenant_[tenant].push_back(id);
  ++length_;
}

void WaitingLine::remove(PlaceId id, TenantId tenant) {
  const auto found = by_tenant_.find(tenant);
  length_ -= std::erase(found->second, id);
  if (found->second.empty()) by_tenant_.erase(found);
}

std::size_t WaitingLine::length_of(TenantId tenant) const {
  const auto found = by_tenant_.find(tenant);
  return found == by_tenant_.end() ? 0 : found->second.size();
}

}  // namespace fairgv::daemon
