// Changes that people make to sessions and tenants by hand: `fairgv kill`, `pause` and `resume`.
//
// Administrators may do it to all. Everybody else may do it to sessions of programs of their own, and to
// tenants of their own; what an administrator has paused, they cannot resume. Used by the server's thread
// only.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/limits/account.hpp"

namespace fairgv::daemon {

/// Does what a request of one of the three kinds asks for. Doing it again is no error; what cannot be done is
/// one line.
Result<void> intervene(Host& host, SessionTable& sessions, const control::ControlRequest& request,
                       const Account& by);

}  // namespace fairgv::daemon
