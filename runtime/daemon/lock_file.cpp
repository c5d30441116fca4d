#include "runtime/daemon/lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

namespace fairgv::daemon {

Result<std::optional<LockFile>> LockFile::acquire(const std::filesystem::path& path) {
  ring::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return system_error("cannot open the lock file " + path.string());
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::optional(LockFile(std::move(fd)));
  if (errno == EWOULDBLOCK) return std::optional<LockFile>();
  return system_error("cannot lock " + path.string());
}

}  // namespace fairgv::daemon
