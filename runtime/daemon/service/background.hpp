// Becoming a daemon in the background, with a parent that waits until the daemon serves.
#pragma once

#include <filesystem>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// The background half of the process. Until ready() it still writes errors where the caller sees them.
class Background {
 public:
  /// Forks. The parent never returns: it exits with 0 when the child calls ready(), else with the child's own
  /// status. Call it before there are threads.
  static Result<Background> enter();

  /// The daemon serves: from now on output goes to the log file, and the parent is told. A log beyond 1 MiB
  /// is put aside as LOG.old first.
  Result<void> ready(const std::filesystem::path& log);

 private:
  explicit Background(UniqueFd ready) : ready_(std::move(ready)) {}
  UniqueFd ready_;  // write end; the parent reads one byte
};

}  // namespace fairgv::daemon
