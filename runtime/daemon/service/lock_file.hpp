// Makes sure that only one daemon serves a socket.
#pragma once

#include <filesystem>
#include <optional>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// Held until the process ends, however it ends. The file itself stays: removing it would race with the next
/// daemon.
class LockFile {
 public:
  /// Empty if another process holds it; an Error if the file cannot be used at all.
  static Result<std::optional<LockFile>> acquire(const std::filesystem::path& path);
  /// A lock that the program before this one, in the same process, has acquired.
  static LockFile adopt(UniqueFd fd) { return LockFile(std::move(fd)); }

  int fd() const { return fd_.get(); }

 private:
  explicit LockFile(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace fairgv::daemon
