// The users whom an administrator trusts with the daemon, beside root: /etc/fairgv/daemon-users.
//
// One user a line, by name or number; `#` begins a comment. Pure functions, for any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::session {

inline constexpr const char* kDaemonUsersFile = "/etc/fairgv/daemon-users";
/// A longer file is refused, in bytes.
inline constexpr std::size_t kLongestDaemonUsers = std::size_t{16} << 10;

struct DaemonUsers {
  std::vector<uid_t> numbers;
  std::vector<std::string> names;  // their numbers are in the system's user database
};

/// `source` names the file in an Error, which says in which line the mistake is.
Result<DaemonUsers> parse_daemon_users(std::string_view text, const std::string& source);

/// Whether every user has a number in the user namespace of this /proc/self/uid_map. Users without a number
/// are all seen as one, kOverflowUser.
bool maps_every_user(std::string_view uid_map);

}  // namespace fairgv::session
