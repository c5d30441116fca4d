#include "runtime/daemon/service/lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "runtime/session/own_files.hpp"

namespace fairgv::daemon {

Result<std::optional<LockFile>> LockFile::acquire(const std::filesystem::path& path) {
  FAIRGV_TRY(file, session::open_own_file(path, O_RDWR));
  if (::flock(file->get(), LOCK_EX | LOCK_NB) == 0) return std::optional(LockFile(std::move(file).value()));
  if (errno == EWOULDBLOCK) return std::optional<LockFile>();
  return system_error("cannot lock " + path.string());
}

}  // namespace fairgv::daemon
