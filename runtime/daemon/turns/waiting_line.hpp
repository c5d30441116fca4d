// Sessions that want the turn on one device: within a tenant first come, first served; which tenant is next
// says the policy.
//
// Pure logic; not thread-safe, the dispatcher owns it.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_map>

#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

class WaitingLine {
 public:
  void add(PlaceId id, TenantId tenant);
  void remove(PlaceId id, TenantId tenant);

  bool has(TenantId tenant) const { return by_tenant_.contains(tenant); }
  /// Of a tenant that has one.
  PlaceId first_of(TenantId tenant) const { return by_tenant_.at(tenant).front(); }
  std::size_t length_of(TenantId tenant) const;

  bool empty() const { return length_ == 0; }
  /// Sessions, of all tenants.
  std::size_t length() const { return length_; }
  /// Tenants with a session that waits.
  std::size_t tenants() const { return by_tenant_.size(); }

 private:
  std::unordered_map<TenantId, std::deque<PlaceId>> by_tenant_;  // none of them is empty
  std::size_t length_ = 0;
};

}  // namespace fairgv::daemon
