#include "runtime/session/own_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <variant>

#include "runtime/session/trust/trusted_path.hpp"
#include "runtime/session/trust/trusted_users.hpp"

namespace fairgv::session {
namespace {

std::string us() {
  return std::to_string(::geteuid());
}

}  // namespace

Result<UniqueFd> open_own_file(const std::filesystem::path& path, int flags) {
  // Without waiting: somebody may have put a pipe there.
  UniqueFd file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file) return system_error("cannot open " + path.string());
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return system_error("cannot look at " + path.string());
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || found.st_nlink != 1 ||
      (found.st_mode & kOthersWrite) != 0) {
    return Error{path.string() + " must be a file with one name that only user " + us() +
                 " may write to: remove it, or choose another folder"};
  }
  const int set = ::fcntl(file.get(), F_GETFL);
  if (set < 0 || ::fcntl(file.get(), F_SETFL, set & ~O_NONBLOCK) != 0) {
    return system_error("cannot open " + path.string());
  }
  return file;
}

Result<void> ensure_own_directory(const std::filesystem::path& path, mode_t mode, const char* remedy) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return system_error("cannot make the folder " + path.string());
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return system_error("cannot look at the folder " + path.string());
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & kOthersWrite) != 0) {
    return Error{path.string() + " must be a folder that only user " + us() + " may write to: " + remedy};
  }
  return {};
}

Result<void> check_folder(const std::filesystem::path& folder, Neighbours neighbours) {
  const TrustedUsers users;
  const auto found = users.look_along(folder);
  if (const auto* doubt = std::get_if<PathDoubt>(&found)) {
    return Error{text_of(*doubt) + users.mistake() + ": choose another folder"};
  }
  const mode_t mode = std::get<TrustedPlace>(found).status.st_mode;
  if (!S_ISDIR(mode)) return Error{folder.string() + " is no folder: choose another"};
  if (neighbours == Neighbours::none && (mode & kOthersWrite) != 0) {
    return Error{folder.string() + " may be written to by others: choose another folder"};
  }
  return {};
}

}  // namespace fairgv::session
