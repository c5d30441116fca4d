// The changes of `fairgv set` while programs run: of a tenant's weight, promises and memory, of a device's
// policy.
//
// Administrators may change all; a tenant's own user its weight, promises and memory within the rules
// (tenants.hpp). Used by the server's thread only.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/devices/table.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Adjustments {
 public:
  /// All outlive it.
  Adjustments(DispatchLoop& dispatch, Tenancies& tenancies, const DeviceTable& devices, UserLog& log)
      : dispatch_(dispatch), tenancies_(tenancies), devices_(devices), log_(log) {}

  using Warnings = std::vector<std::string>;  // a line each, of what has been done all the same

  /// `by_text`: who that is, for the log.
  Result<Warnings> set(const control::ControlRequest& request, const Account& by, const std::string& by_text);
  /// The caller has seen to it that an administrator asks.
  Result<Warnings> set_policy(const control::ControlRequest& request, const Account& by,
                              const std::string& by_text);

 private:
  Result<void> set_memory(const control::ControlRequest& request, const Account& by,
                          const std::string& by_text);

  Warnings warnings_of(const Tenant& tenant, const session::TenantWish& wish) const;

  DispatchLoop& dispatch_;
  Tenancies& tenancies_;
  const DeviceTable& devices_;
  UserLog& log_;
};

}  // namespace fairgv::daemon
