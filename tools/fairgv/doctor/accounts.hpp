// Users and groups as /etc/passwd and /etc/group name them. Those of a name service over the network are not
// seen.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/fairgv/doctor/machine.hpp"

namespace fairgv::tools::doctor {

/// "alice", or "user 1000" when the machine knows no name.
std::string user_name(const Machine& machine, uid_t user);
/// "render", or "group 105".
std::string group_name(const Machine& machine, gid_t group);
/// All users but root with this first or further group, sorted.
std::vector<std::string> members_of(const Machine& machine, gid_t group);

}  // namespace fairgv::tools::doctor
