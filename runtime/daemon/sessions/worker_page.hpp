// The part of the configuration that is told to workers and programs through the pages that they share with
// the daemon, and the state of a program's session there when it is parked.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

/// Writes it to the session's pages. The worker reads the floor of slicing before it cuts a launch, and what
/// counts as a unit of service when a command ends; the program reads the latter when a call returns.
void tell_configuration(Session& session, const Config& config, const TenantRegistry& tenants);

/// Whether the program of a parked session needs its device: there are calls that nobody takes, or its
/// threads wait for an answer or the end of a command. What the program writes decides that, and only for
/// itself.
bool needs_its_device(const Session& session);

}  // namespace fairgv::daemon
