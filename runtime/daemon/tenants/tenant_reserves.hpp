// The reserves of TimeGraph among the tenants: admission control (section 3), and the tenants whose windows
// are in front. Belongs to the registry, which has the tenants; made for a call, and not kept.
//
// Where a device has the policy `timegraph`, the reserves of the tenants that run must fit into the limit of
// [timegraph]: a session whose tenant's reserve does not is refused, or its tenant has the Background reserve
// and the lowest priority. That is tried again with its next session, its next change, and whenever the
// configuration is read.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

class TenantReserves {
 public:
  explicit TenantReserves(TenantRegistry& registry) : registry_(registry) {}

  /// Whether reserves count: a device has the policy `timegraph`.
  static bool count(const TenantRegistry& registry) { return registry.reserves_count_; }
  /// Sets that. Gives the tenants that run their reserves anew as far as they fit: those first that have
  /// theirs, then in the order in which they came. Returns a line for each that has lost it.
  std::vector<std::string> admit(bool reserves_count);
  /// The tenants whose windows are in front from now on, by name, known or not. Returns those that changed.
  std::vector<Tenant> bring_to_front(std::set<std::string> names);

 private:
  TenantRegistry& registry_;
};

}  // namespace fairgv::daemon
