// Finds the tenant of a program: by the [[match]] rules of the configuration, which go by what the kernel
// says of the program's process, or else by the program's own wish.
//
// The first rule all of whose conditions hold decides, for root as for everybody else. Tenants that rules
// assign are for the matching processes alone: no program gets in by asking for the name. A program's own
// words (FAIRGV_TENANT) are a wish.
//
// A rule for a user holds for that user's subordinate ids, too; a rule that names the id itself goes before
// it, wherever it stands.
//
// Pure logic; peer_process.hpp asks the kernel.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/config/config.hpp"

namespace fairgv::daemon {

/// The facts that the rules look at.
struct Person {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // all
  std::string user_tenant;    // the tenant of who names none: the user's name
  /// Path of its control group. With an Error, a rule that would need the path refuses the program: a user
  /// who can hide the group could choose among the rules.
  Result<std::string> cgroup = Error{"its control group was not asked for"};
  std::optional<uid_t> owner{};  // of the subordinate id `uid`; none: it is none
};

struct Membership {
  std::string tenant;
  std::string class_name{};           // of the tenant by the rule; empty: none
  std::optional<std::size_t> rule{};  // that fits, from 0
  bool assigned = false;              // by the rule; else asked for, or the user's own
};

/// An Error if the program must not be served under this name, as far as rules say.
Result<Membership> find_membership(const TenantRules& rules, const Person& person,
                                   const std::optional<std::string>& asked);

/// Whether any rule looks at control groups or containers.
bool needs_cgroup(const TenantRules& rules);

/// The label of the container that a control group's path is in, "podman:ID", if it is in one that the path
/// shows. The outermost one counts. Below a user's own service manager a user can make groups of any name:
/// the label then begins with "rootless-".
std::optional<std::string> container_label(std::string_view cgroup);

}  // namespace fairgv::daemon
