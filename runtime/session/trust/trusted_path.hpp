// Whether nobody but trusted users can have made what lies at a path.
//
// A folder that somebody else owns, or that others may write to, lets them put their own file in the place of
// ours. So each step of the path is looked at, links included, as the kernel would follow them. What has
// passed stays as it is: nobody else can rename or replace it afterwards.
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

/// What lets others than its owner change a file.
inline constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

struct Believed {
  /// Whether what this user has made counts.
  std::function<bool(uid_t)> user;
  /// Whether some users have no number here, as in most containers. A file of kOverflowUser may be theirs,
  /// and nobody can tell whose. So it counts only where its place says who put it there: in a folder to which
  /// nobody but its owner may write. In a container that is what its administrator has mounted.
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

/// What lies at a path without doubt.
struct TrustedPlace {
  struct stat status {};
  /// Nobody else may write to the folder that it lies in, not even beside it: that is not sticky.
  bool is_exclusive = false;
};

/// Looks along an absolute path. Folders on the way must be believed users', and not writable for others
/// unless they are sticky; what lies at the end, if it is no folder, must be a believed user's. `root` is
/// where the machine's root is looked for, for tests.
std::variant<TrustedPlace, PathDoubt> look_along(const std::filesystem::path& path, const Believed& believed,
                                                 const std::filesystem::path& root = "/");

/// What a doubt says to a person; what to do about it depends on what the path is for.
std::string text_of(const PathDoubt& doubt);

}  // namespace fairgv::session
