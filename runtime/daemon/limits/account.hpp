// The account of a connection or a session: the user for whom it counts, and whether limits bind at all.
#pragma once

#include <sys/types.h>

#include <string>

namespace fairgv::daemon {

struct Account {
  uid_t owner = 0;  // the user; the owner of a subordinate id (tenants/peers/owners.hpp)
  /// Root, the daemon's own user, or a member of its admin_group when it connected: there are places for this
  /// user that others cannot take, and none of its lines is left out of the log.
  bool administrator = false;
};

/// "user 1000", or "user 100005, who counts as user 1000".
std::string account_text(uid_t uid, uid_t owner);

}  // namespace fairgv::daemon
