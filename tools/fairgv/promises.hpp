// A tenant's promises as tools show them: guarantee, ceiling and class of service, where they differ from
// those of tenants to whom nothing is promised.
//
// Pure logic, for all commands that show tenants.
#pragma once

#include <string>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

/// As the daemon writes them (session/wish/tenant_wish.hpp). An older daemon leaves them empty.
struct Promises {
  std::string min{};
  std::string max{};
  std::string service{};

  bool has_min() const { return !min.empty() && min != "none"; }
  bool has_max() const { return !max.empty() && max != "100%"; }
  bool has_service() const { return !service.empty() && service != "normal"; }
};

/// "policy fifo does not keep what is promised to alice (min), bob (max, class)": of all tenants. Empty: it
/// keeps all.
std::string unkept_promises(const control::Report& report, const std::string& policy);

/// Whether the tenant has work for a device, and waits because its ceiling is reached.
bool is_held_back(const control::Report::Tenant& tenant);

/// "min 20%, max 50%, class latency:5ms": those that differ from the defaults.
std::string promises_text(const Promises& promises);

}  // namespace fairgv::tools
