// Changes that people make to sessions and tenants by hand: `fairgv kill`, `pause` and `resume`.
//
// Administrators may change all of them. Other users may change the sessions of their own programs and their
// own tenants; they cannot resume what an administrator has paused. Used by the server's thread only.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

class Interventions {
 public:
  /// All outlive it.
  Interventions(TenantRegistry& tenants, SessionTable& sessions, UserLog& log)
      : tenants_(tenants), sessions_(sessions), log_(log) {}

  /// Carries out a request of one of the three kinds. Repeating a request is no error; a failure is one line.
  Result<void> carry_out(const control::ControlRequest& request, const Account& by);

 private:
  TenantRegistry& tenants_;
  SessionTable& sessions_;
  UserLog& log_;
};

}  // namespace fairgv::daemon
