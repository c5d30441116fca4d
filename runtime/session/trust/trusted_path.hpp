// Checks that nobody but trusted users can have made the file at a path.
//
// A folder that somebody else owns, or that others may write to, lets them put their own file in the place of
// ours. So each step of the path is looked at, links included, as the kernel would follow them. A path that
// has passed stays as it is: nobody else can rename or replace any of it afterwards.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <variant>

namespace fairgv::session {

/// How users who have no number in this user namespace are seen, all of them as one.
inline constexpr uid_t kOverflowUser = 65'534;

/// The permissions that let others than its owner change a file.
inline constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

struct Believed {
  /// Whether files of this user count.
  std::function<bool(uid_t)> user;
  /// Whether some users have no number here, as in most containers. A file of kOverflowUser may belong to any
  /// of these users. So it counts only where its place tells who put it there: in a folder to which nobody
  /// but the folder's owner may write. In a container, these are the mounts of its administrator.
  std::function<bool()> has_outsiders;
};

/// A reason to distrust a path.
struct PathDoubt {
  enum class Kind {
    unreachable,  // `code` is errno
    foreign,      // `where` belongs to `owner`, who is not believed
    outsider,     // `where` belongs to somebody who has no number here, and its place does not say who
    writable      // `where` may be written to by others
  };
  Kind kind = Kind::unreachable;
  std::filesystem::path where{};
  uid_t owner = 0;
  int code = 0;
};

/// The end of a path about which there is no doubt.
struct TrustedPlace {
  struct stat status {};
  /// Nobody but the owner may write to the folder in which it lies, and the folder is not sticky.
  bool is_exclusive = false;
};

/// Looks along an absolute path. Folders on the way must be believed users', and not writable for others
/// unless they are sticky; the end of the path, if it is no folder, must be a believed user's. `root` is
/// where the machine's root is looked for, for tests.
std::variant<TrustedPlace, PathDoubt> look_along(const std::filesystem::path& path, const Believed& believed,
                                                 const std::filesystem::path& root = "/");

/// A doubt in words. The remedy depends on what the path is for.
std::string text_of(const PathDoubt& doubt);

}  // namespace fairgv::session
