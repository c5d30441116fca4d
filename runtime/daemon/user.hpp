// Users of the system: who they are by number, and what a worker that runs as one needs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace fairgv::daemon {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;           // "uid-1000" when the system knows none
  std::string home = "/";     // of the passwd database
  std::vector<gid_t> groups;  // all groups, the first included: device files are often opened by group
};

/// May ask a name service over the network.
User look_up_user(uid_t uid, gid_t gid);
std::optional<uid_t> find_user(const std::string& name);

/// The tenant that a user's programs belong to when they name none: the user's name, if it can be one.
std::string default_tenant(const User& user);

}  // namespace fairgv::daemon
