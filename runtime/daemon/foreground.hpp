// The tenants whose windows are in front, for TimeGraph's automatic priorities (section 3, AGPA).
//
// A control connection says which they are (`fairgv focus`), of its user's tenants only unless an
// administrator asks. It holds until the connection says otherwise or is gone. Several connections may do so,
// as there may be several screens. Used by the server's thread only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/control/answers.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Foreground {
 public:
  /// It outlives this.
  explicit Foreground(Tenancies& tenancies) : tenancies_(tenancies) {}

  /// Replaces what the connection has said before. Tenants that do not run are left out. An Error if no
  /// device goes by priorities.
  Result<control::FrontAnswer> set(std::uint64_t connection, const std::vector<std::string>& tenants,
                                   const Account& by);
  /// The connection is gone.
  void leave(std::uint64_t connection);

 private:
  void apply();

  Tenancies& tenancies_;
  std::map<std::uint64_t, std::set<std::string>> by_connection_;
};

}  // namespace fairgv::daemon
