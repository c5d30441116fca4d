// The latest sessions that did not end by themselves, and why: for `fairgv ps`.
//
// Not thread-safe: the server's thread owns it. A restart of the daemon hands them over.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

inline constexpr std::size_t kLongestKillReason = 1024;

struct Kill {
  using Time = std::chrono::steady_clock::time_point;

  SessionId session;
  std::string tenant;
  uid_t uid = 0;  // of the program
  pid_t pid = 0;
  std::string program;
  std::string reason;
  Time at{};
};

class KillBook {
 public:
  static constexpr std::size_t kMost = 16;

  void note(Kill kill) {
    kills_.push_back(std::move(kill));
    if (kills_.size() > kMost) kills_.pop_front();
  }
  /// The latest last.
  const std::deque<Kill>& all() const { return kills_; }

 private:
  std::deque<Kill> kills_;
};

}  // namespace fairgv::daemon
