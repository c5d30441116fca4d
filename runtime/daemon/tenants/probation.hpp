// The waits of a tenant whose sessions are killed again and again: by the watchdog, for using a device
// without a turn, or for breaking a protocol.
//
//   strikes        1    2    3    4   ...
//   next session   now  1 s  2 s  4 s ...  kLongest after the last kill
//
// A kill is a strike. A session that has used a device and is ended by its program takes one back, and after
// kForgotten without a kill all are forgotten. Sessions that run already are left alone, and so are tenants
// whose workers crash: that is a fault, and harms nobody else.
//
// Pure logic; time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace fairgv::daemon {

class Probation {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kFirst{1};
  static constexpr std::chrono::seconds kLongest{60};
  static constexpr std::chrono::minutes kForgotten{10};
  static constexpr std::uint32_t kMostStrikes = 8;  // beyond them the wait is no longer

  Probation() = default;
  /// As the previous daemon has had it.
  Probation(std::uint32_t strikes, Time last) : strikes_(std::min(strikes, kMostStrikes)), last_(last) {}

  void killed(Time now) {
    strikes_ = std::min(strikes(now) + 1, kMostStrikes);
    last_ = now;
  }
  void behaved() { strikes_ -= std::min(strikes_, 1U); }

  std::uint32_t strikes(Time now) const { return now - last_ < kForgotten ? strikes_ : 0; }
  Time last() const { return last_; }
  /// Before then no session that begins may run; in the past if it may.
  Time may_run_from(Time now) const {
    const std::uint32_t count = strikes(now);
    if (count < 2) return {};
    return last_ + std::min<std::chrono::seconds>(kFirst * (1U << (count - 2)), kLongest);
  }

 private:
  std::uint32_t strikes_ = 0;
  Time last_{};  // when a session was killed
};

}  // namespace fairgv::daemon
