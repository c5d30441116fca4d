// The users whom a process trusts with its data where it cannot ask anybody: its own user, root, and the
// users whom the administrator names in /etc/fairgv/daemon-users.
//
// One thread at a time. Nothing is read before a user other than the first two has to be judged.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "runtime/base/result.hpp"
#include "runtime/session/trust/daemon_users.hpp"
#include "runtime/session/trust/trusted_path.hpp"

namespace fairgv::session {

class TrustedUsers {
 public:
  /// `self` trusts; `root` is where the machine's files are looked for, for tests.
  explicit TrustedUsers(uid_t self = ::geteuid(), std::filesystem::path root = "/");

  bool include(uid_t user) const;
  /// See Believed.
  bool have_outsiders() const;
  /// Looks along a path as one of these users has to have made it.
  std::variant<TrustedPlace, PathDoubt> look_along(const std::filesystem::path& path) const;

  /// Why the administrator's file does not count, if it is there and has a mistake: " (…)", for the end of a
  /// refusal's line; else empty.
  std::string mistake() const;

 private:
  const Result<DaemonUsers>& named() const;
  Result<DaemonUsers> read_named() const;
  bool are_root_or_self(uid_t user) const;

  uid_t self_;
  std::filesystem::path root_;
  // Once they are known.
  mutable std::optional<Result<DaemonUsers>> named_;
  mutable std::optional<bool> have_outsiders_;
};

}  // namespace fairgv::session
