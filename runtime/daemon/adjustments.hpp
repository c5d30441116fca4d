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
#include "runtime/daemon/oversell/markets.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Adjustments {
 public:
  /// All outlive it.
  struct Needs {
    DispatchLoop& dispatch;
    Tenancies& tenancies;
    Markets& markets;
    const DeviceTable& devices;
    UserLog& log;
  };
  explicit Adjustments(const Needs& needs) : needs_(needs) {}

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

  const Needs needs_;
};

}  // namespace fairgv::daemon
