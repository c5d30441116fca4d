// Finds the tenant under which a connected process is served: puts together what the kernel and the
// configuration say of the process, for the tenants' registry. Also answers `fairgv whoami`.
#pragma once

#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/control/answers.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/tenants/account.hpp"
#include "runtime/daemon/tenants/peers/matching.hpp"
#include "runtime/daemon/tenants/peers/owners.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

struct Admission {
  std::string tenant;
  TenantRegistry::Applicant applicant;
};

/// A process that connected, and what it asks for.
struct Guest {
  const PeerCredentials& peer;
  Account account;
  int socket;                        // of the connection
  std::optional<std::string> asked;  // the tenant; none: its own
  session::TenantWish wish{};        // look_at()
};

/// The guest's tenant. An Error if the rules forbid it; only the registry knows whether the tenant takes the
/// guest.
Result<Admission> find_admission(const TenantRules& rules, Owners& owners, const Guest& guest);

/// All that there is to say of the guest, but for the limits on memory, which are a matter of devices.
control::WhoAmI look_at(const TenantRules& rules, const TenantRegistry& tenants, Owners& owners,
                        const Guest& guest);

}  // namespace fairgv::daemon
