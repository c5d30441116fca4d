// Files and folders that a daemon keeps for itself in places where others may be, too.
//
// Somebody who comes first may have left a link, or a file of his own, under a name that the daemon is about
// to use: root's daemon would write to, change or delete the file behind it. So a file that is there already
// counts only if it is ours. Any thread; every Error is one line that says what to do.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::session {

/// Opens the file, and makes it (mode 0600) if it is missing. Fails unless it is a plain file with one name,
/// ours, and nobody else may write to it. `flags` are those of open(2), without O_CREAT.
Result<UniqueFd> open_own_file(const std::filesystem::path& path, int flags);

/// Makes the folder if it is missing. Fails unless it is a real folder, ours, and nobody else may write to
/// it. `remedy` ends the line of the Error.
Result<void> ensure_own_directory(const std::filesystem::path& path, mode_t mode, const char* remedy);

enum class Neighbours {
  may_be,  // others may make files beside ours, but neither remove nor rename them (/tmp)
  none
};

/// Fails if somebody who is not trusted (trusted_users.hpp) can have made the folder, or may put another one
/// in its place. An absolute path.
Result<void> check_folder(const std::filesystem::path& folder, Neighbours neighbours);

}  // namespace fairgv::session
