// On whose account a connection or a session is: who is counted for it, and whether limits bind at all.
#pragma once

#include <sys/types.h>

#include <string>

#include "runtime/base/socket.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/tenants/owners.hpp"

namespace fairgv::daemon {

struct Account {
  uid_t owner = 0;  // the user; the owner of a subordinate id (owners.hpp)
  /// Root, the daemon's own user, or a member of its admin_group when it connected: there are places for it
  /// that others cannot take, and no line of its is left out of the log.
  bool administrator = false;
};

/// Of the process that connected `socket`.
Account account_of(const PeerCredentials& peer, int socket, const Config& config, Owners& owners);

/// For whom a user id counts, by the configuration.
uid_t counting_for(uid_t uid, const TenantRules& rules, Owners& owners);

/// "user 1000", or "user 100005, who counts as user 1000".
std::string account_text(uid_t uid, uid_t owner);

}  // namespace fairgv::daemon
