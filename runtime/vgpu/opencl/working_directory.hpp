// Builds happen where the application is, for relative includes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "runtime/ring/handle.hpp"

namespace fairgv::vgpu::opencl {

/// The process' working directory is elsewhere while this lives. For the slow lane only: one at a time.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path)
      : before_(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A directory that the worker may not enter only breaks relative includes, which the build log will say.
    moved_ = before_ && !path.empty() && ::chdir(path.c_str()) == 0;
  }
  ~WorkingDirectory() {
    if (moved_) [[maybe_unused]]
      const int result = ::fchdir(before_.get());
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  ring::UniqueFd before_;
  bool moved_ = false;
};

}  // namespace fairgv::vgpu::opencl
