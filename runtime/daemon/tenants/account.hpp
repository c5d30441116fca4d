// The account of a process, by the configuration and the system's users.
#pragma once

#include <sys/types.h>

#include "runtime/base/socket.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/tenants/peers/owners.hpp"

namespace fairgv::daemon {

/// Of the process that connected `socket`.
Account account_of(const PeerCredentials& peer, int socket, const Config& config, Owners& owners);

/// The user for whom a user id counts, by the configuration.
uid_t counting_for(uid_t uid, const TenantRules& rules, Owners& owners);

}  // namespace fairgv::daemon
