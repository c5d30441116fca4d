// What the configuration says to workers and programs through the pages that they share with the daemon.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

/// Writes it to the session's pages. The worker reads the floor of slicing before it cuts a launch, and what
/// counts as a unit of service when a command ends; the program reads the latter when a call returns.
void tell_configuration(Session& session, const Config& config, const TenantRegistry& tenants);

}  // namespace fairgv::daemon
