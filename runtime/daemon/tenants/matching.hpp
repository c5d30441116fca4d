// Which tenant a program belongs to: by the [[match]] rules of the configuration, which go by what the kernel
// says of its process, and else by what it asks for.
//
// The first rule all of whose conditions hold decides, for root as for everybody else. The tenants that rules
// give away are for those processes alone: nobody gets in by asking for the name. What a program says of
// itself (FAIRGV_TENANT) is a wish.
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

/// What the rules look at.
struct Person {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // all
  std::string user_tenant;    // the tenant of who names none: the user's name
  /// Path of its control group. With an Error, a rule that would need it refuses, for who can hide his group
  /// could choose among the rules.
  Result<std::string> cgroup = Error{"its control group was not asked for"};
  std::optional<uid_t> owner{};  // whose subordinate id `uid` is; none: it is none
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
