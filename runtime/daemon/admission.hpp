// Under which tenant a connected process is served: what the kernel and the configuration say of it, put
// together for the tenants' registry. Also for who only asks (`fairgv whoami`).
#pragma once

#include <optional>
#include <string>

#include "runtime/daemon/config.hpp"
#include "runtime/daemon/matching.hpp"
#include "runtime/daemon/tenants.hpp"
#include "runtime/ring/result.hpp"
#include "runtime/session/control_answers.hpp"
#include "runtime/session/socket.hpp"

namespace fairgv::daemon {

struct Admission {
  std::string tenant;
  TenantRegistry::Applicant applicant;
};

/// The tenant of the process that connected `socket`, and asked for that one or for none. An Error if the
/// rules forbid it; whether the tenant takes it, only the registry knows.
Result<Admission> find_admission(const TenantRules& rules, int socket, const session::PeerCredentials& peer,
                                 const std::optional<std::string>& asked);

/// All that there is to say of the process, but for the limits on memory, which are a matter of devices.
session::WhoAmI look_at(const TenantRules& rules, const TenantRegistry& tenants, int socket,
                        const session::PeerCredentials& peer, const std::optional<std::string>& asked);

}  // namespace fairgv::daemon
