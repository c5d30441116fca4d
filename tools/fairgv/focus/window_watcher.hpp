// The window in front on an X server, as its window manager tells: `_NET_ACTIVE_WINDOW` of the root window,
// and `_NET_WM_PID` of that window (Extended Window Manager Hints).
//
// Built on libxcb where that is there, else as a connect() that says so. One thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "runtime/base/result.hpp"

namespace fairgv::tools::focus {

class WindowWatcher {
 public:
  /// The server that DISPLAY names. An Error: there is none, or its window manager does not tell the window.
  static Result<std::unique_ptr<WindowWatcher>> connect();

  virtual ~WindowWatcher() = default;
  /// Readable when the window may have changed.
  virtual int fd() const = 0;
  /// The process of the window in front; none: there is no such window, or its process is unknown or runs on
  /// another machine. An Error: the X server is gone.
  virtual Result<std::optional<pid_t>> process_in_front() = 0;
};

}  // namespace fairgv::tools::focus
