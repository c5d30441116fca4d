// Changes that people make to sessions and tenants by hand: `fairgv kill`, `pause` and `resume`.
//
// Administrators may change all of them. Other users may change the sessions of their own programs and their
// own tenants; they cannot resume what an administrator has paused. Used by the server's thread only.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/limits/account.hpp"

namespace fairgv::daemon {

/// Carries out a request of one of the three kinds. Repeating a request is no error; a failure is one line.
Result<void> intervene(Host& host, SessionTable& sessions, const control::ControlRequest& request,
                       const Account& by);

}  // namespace fairgv::daemon
