// Sessions that may not run for a time: paused by hand, alone or with their tenant, or held back because
// earlier sessions of their tenant were killed.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/control/pause.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

/// Whether the session, or its tenant, may not run now.
bool is_suspended(const Session& session, const TenantRegistry& tenants);

class Suspensions {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Suspensions(const TenantRegistry& tenants, DispatchLoop& dispatch, UserLog& log)
      : tenants_(tenants), dispatch_(dispatch), log_(log) {}

  /// `fairgv pause` and `resume` of a session, and of a tenant with these sessions.
  void set_pause(Session& session, const std::optional<control::Pause>& pause);
  void tell(const Sessions& sessions, TenantId tenant);
  /// Sets for how long its tenant's conduct keeps a session that is about to run from running.
  void hold_back(Session& session, Time now);
  /// Lets sessions go on whose time has come.
  void expire(const Sessions& sessions, Time now);

 private:
  void tell(const Session& session);

  const TenantRegistry& tenants_;
  DispatchLoop& dispatch_;
  UserLog& log_;
};

}  // namespace fairgv::daemon
