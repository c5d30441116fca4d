// Sessions that want the turn on one device: first come, first served within a tenant; the policy says which
// tenant is next.
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
  /// The first session of a tenant that has one in line.
  PlaceId first_of(TenantId tenant) const { return by_tenant_.at(tenant).front(); }
  std::size_t length_of(TenantId tenant) const;

  bool empty() const { return length_ == 0; }
  /// The number of waiting sessions, of all tenants.
  std::size_t length() const { return length_; }
  /// The number of tenants with a session that waits.
  std::size_t tenants() const { return by_tenant_.size(); }

 private:
  std::unordered_map<TenantId, std::deque<PlaceId>> by_tenant_;  // none of them is empty
  std::size_t length_ = 0;
};

}  // namespace fairgv::daemon
