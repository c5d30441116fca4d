// The tenants that the daemon knows: names, owners, weights, and the rules that decide the weight.
//
// A tenant comes into being with its first session. When its last session ends it stays known, because its
// start tag and its debt must (leaving would be a way out of debt); forget() lets go of those that owe
// nothing.
//
// A weight is, in this order: what an administrator has set while the tenant runs (`fairgv set`); what the
// configuration pins; what its latest program asked for, capped by the configuration; the default.
//
// Pure logic, not thread-safe: the server's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/daemon/config.hpp"
#include "runtime/daemon/ids.hpp"
#include "runtime/ring/result.hpp"

namespace fairgv::daemon {

struct Tenant {
  TenantId id;
  std::string name;
  uid_t uid = 0;             // of its sessions
  std::uint32_t weight = 1;  // in force
  std::uint32_t sessions = 0;
  std::optional<std::uint32_t> asked;  // by its latest program that asked
  std::optional<std::uint32_t> set;    // by an administrator; holds until the last session ends
};

class TenantRegistry {
 public:
  explicit TenantRegistry(TenantRules rules) : rules_(std::move(rules)) {}

  /// One more session of user `uid` for this name. Refused if the configuration gives the name to somebody
  /// else, or another user's sessions are using it now.
  Result<Tenant> join(const std::string& name, uid_t uid, std::optional<std::uint32_t> asked_weight);
  /// One session less.
  void leave(TenantId id);

  /// `fairgv set`. Only an administrator may go beyond what the configuration allows programs to ask for, and
  /// only the tenant's own user or an administrator may ask at all. The tenant must have a session.
  Result<Tenant> set_weight(const std::string& name, std::uint32_t weight, uid_t by, bool administrator);

  /// New rules from a configuration that was read again. Weights follow.
  void configure(TenantRules rules);

  const Tenant* find(TenantId id) const;
  /// All, also those without sessions, by name.
  std::vector<Tenant> all() const;
  /// Forgets a tenant without sessions.
  void forget(TenantId id);

 private:
  std::uint32_t weight_of(const Tenant& tenant) const;

  TenantRules rules_;
  std::map<std::string, Tenant> tenants_;
  std::uint32_t last_id_ = 0;
};

}  // namespace fairgv::daemon
