// A tenant's promises as tools show them: guarantee, ceiling and class of service, where they differ from
// those of tenants to whom nothing is promised.
//
// Pure logic, for all commands that show tenants.
#pragma once

#include <string>

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

/// The promises among them that a policy of this name does not keep: "min, class". Empty: it keeps all, or is
/// one that this program does not know.
std::string unkept_by(const std::string& policy, const Promises& promises);

/// "min 20%, max 50%, class latency:5ms": those that differ from the defaults.
std::string promises_text(const Promises& promises);

}  // namespace fairgv::tools
