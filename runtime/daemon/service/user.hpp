// Users of the system by number, with what a worker that runs as such a user needs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::daemon {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;           // as numbered_user() has it when the system knows none
  std::string home = "/";     // of the passwd database
  std::vector<gid_t> groups;  // all groups, the first included: device files are often opened by group
};

/// Begins the names of users that the system does not know: "uid-1000".
inline constexpr std::string_view kNumberedUser = "uid-";
std::string numbered_user(uid_t uid);

/// May ask a name service over the network.
User look_up_user(uid_t uid, gid_t gid);
/// Whether the system knows a user with this id. May ask a name service, too.
bool is_user(uid_t uid);
std::optional<uid_t> find_user(const std::string& name);
std::optional<gid_t> find_group(const std::string& name);
/// The group's name; its number if the system knows none.
std::string group_name(gid_t gid);

/// Root and the daemon's own user: nothing is refused to them.
bool is_administrator(uid_t uid);

/// All groups of the process that connected a socket, at that moment, the first group included.
std::vector<gid_t> peer_groups(int socket);
/// Whether the process that connected a socket was in the group at that moment, as its first or another
/// group.
bool peer_is_in(gid_t group, int socket);

}  // namespace fairgv::daemon
