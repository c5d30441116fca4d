// Giving up between fork and exec: one line as the worker's last word to the daemon, which logs it and passes
// it on to the program that wanted a session.
#pragma once

namespace fairgv::daemon {

/// Only async-signal-safe calls, for the child of a fork.
class StartFailure {
 public:
  static constexpr int kExitStatus = 127;

  /// `channel`: the worker's socket to the daemon (session/protocol.hpp); -1: none, and the line
  /// goes to standard error.
  explicit StartFailure(int channel) : channel_(channel) {}

  /// Tells that a worker cannot do `what` (with `object`), for the reason in errno, and ends the process.
  [[noreturn]] void give_up(const char* what, const char* object = "") const;

 private:
  int channel_;
};

}  // namespace fairgv::daemon
