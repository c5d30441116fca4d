// The time for which a worker has compiled for its program: a clock that runs meanwhile, in one word of the
// turn page, so that a reader of the word knows the clock's time at any moment.
#pragma once

#include <chrono>
#include <cstdint>

namespace fairgv::session {

class CompileClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  CompileClock() = default;
  /// Any word is a clock.
  explicit CompileClock(std::uint32_t word) : value_(word >> 1), runs_((word & 1) != 0) {}
  std::uint32_t word() const { return value_ << 1 | static_cast<std::uint32_t>(runs_); }

  bool runs() const { return runs_; }
  /// Only while the clock does not run.
  void start(Time now) {
    value_ -= of(now);
    runs_ = true;
  }
  /// Only while the clock runs.
  void stop(Time now) {
    value_ += of(now);
    runs_ = false;
  }

  /// The clock's time in milliseconds; begins anew after 24 days.
  std::uint32_t shows(Time now) const { return (runs_ ? value_ + of(now) : value_) & kMost; }
  /// The time between two looks at the clock; 0 if it went back.
  static std::chrono::milliseconds between(std::uint32_t before, std::uint32_t after) {
    const std::uint32_t passed = (after - before) & kMost;
    return std::chrono::milliseconds(passed > kMost / 2 ? 0 : passed);
  }

 private:
  static constexpr std::uint32_t kMost = 0x7fff'ffff;

  static std::uint32_t of(Time now) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
    return static_cast<std::uint32_t>(since.count());
  }

  std::uint32_t value_ = 0;  // its time; while it runs, less the current time. Modulo 2^31.
  bool runs_ = false;
};

}  // namespace fairgv::session
