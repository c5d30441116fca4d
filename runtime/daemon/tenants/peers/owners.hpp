// The person behind a user id: a user with subordinate ids (subuid(5), for rootless containers) is one person
// with all of them, and would otherwise have the names, shares and limits of 65,536.
//
// An id that the system's user database knows is itself, whatever the file says. Any other id counts for the
// user in whose range it is. Ids that do not belong to exactly one user count as a person of their own,
// adjacent ids as one person: ids of root's ranges, so that nobody in a container of root's counts as root;
// ids that several users hold; ids whose owner does not exist.
//
// This holds for names, limits and the permission to change things. Rights are different: a worker runs as
// the id that connected, and administrators are recognised by theirs (service/user.hpp).
//
// The file is read again when it has changed. Used by the server's thread only.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/daemon/tenants/peers/subordinate_ids.hpp"

namespace fairgv::daemon {

class Owners {
 public:
  /// The system's users, or a test's.
  struct Users {
    std::function<bool(uid_t)> is_user;
    std::function<std::optional<uid_t>(const std::string&)> find;
  };

  static constexpr const char* kSystemFile = "/etc/subuid";

  explicit Owners(std::string file = kSystemFile, Users users = system_users());

  /// The id itself, or the one that it counts for.
  uid_t owner_of(uid_t id);
  /// Forgets what is known, so that the file and users are looked up again.
  void refresh();

 private:
  static Users system_users();
  void read_if_changed();
  void read();
  uid_t look_up(uid_t id) const;
  uid_t holder_of(uid_t id) const;
  uid_t stand_in_for(const SubordinateIds::Block& block, uid_t id) const;

  const std::string file_;
  const Users users_;
  struct Version {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    timespec changed{};
    bool there = false;
    bool operator==(const Version& other) const;
  };
  std::optional<Version> version_;  // that was read; none: nothing yet
  SubordinateIds ids_;
  std::unordered_map<uid_t, uid_t> known_;  // owners by id: user databases may be far away
};

}  // namespace fairgv::daemon
