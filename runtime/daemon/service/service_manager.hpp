// The conversation of fairgvd with the service manager (systemd) that has started it: the socket on which the
// manager listens for us, news of our state, and signs of life.
//
// Without a service manager all of these functions do nothing. The manager is found by the environment
// (sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)), which a restart of the daemon keeps: the new
// program in the same process calls tell_ready() again. For the server's thread only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// A socket that listens already. It and its path are the service manager's: nobody here removes it.
struct ActivatedSocket {
  UniqueFd fd;  // non-blocking, closed by execve
  std::string path;
};

/// Takes the socket that was passed; once. Nothing if we were not started by a socket. An Error unless it is
/// one listening Unix socket that keeps packets whole.
Result<std::optional<ActivatedSocket>> take_activated_socket();

/// The socket's unit decides on access to it: an Error if it lets in more users than the group that the
/// configuration names; no group: everybody may connect.
Result<void> check_access(const ActivatedSocket& socket, std::optional<gid_t> group);

/// Serves, says so with a line for `systemctl status`.
void tell_ready(std::string_view status);
void tell_status(std::string_view status);
void tell_stopping();

/// While it lives, the daemon reads its configuration again or is about to be replaced.
class ReloadNotice {
 public:
  ReloadNotice();
  ~ReloadNotice();
  ReloadNotice(const ReloadNotice&) = delete;
  ReloadNotice& operator=(const ReloadNotice&) = delete;
};

/// When to tell the service manager that we live: several times within its limit, and only if the
/// dispatcher's loop has turned since the last time. Pure logic.
class Watchdog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Without a limit it never wants anything.
  explicit Watchdog(std::optional<std::chrono::microseconds> limit);
  static Watchdog from_environment();

  /// When to look next.
  std::optional<Time> deadline() const { return next_; }
  bool due(Time now) const { return next_ && now >= *next_; }
  /// One look, when it is due: has the loop turned since the one before? `turns` is the loop's count. The
  /// caller then has the loop turn once more, so that an idle one is not taken for a dead one.
  bool look(Time now, std::uint64_t turns);

 private:
  std::chrono::microseconds interval_{};
  std::optional<Time> next_;
  std::uint64_t turns_ = 0;
};

/// A sign of life.
void tell_alive();

}  // namespace fairgv::daemon
