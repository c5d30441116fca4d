// The time for which a target waits for something that must end. A process that was stopped, or got no core,
// does not give up when it goes on: between two looks no more than a moment counts.
#pragma once

#include <algorithm>
#include <chrono>

namespace fairgv::fuzz {

class Patience {
 public:
  explicit Patience(std::chrono::seconds most) : left_(most) {}

  /// Whether to stop waiting. Call it again and again while waiting.
  bool is_over() {
    constexpr Clock::duration kMoment = std::chrono::milliseconds(100);
    const auto now = Clock::now();
    left_ -= std::min(now - latest_, kMoment);
    latest_ = now;
    return left_ <= Clock::duration::zero();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::duration left_;
  Clock::time_point latest_ = Clock::now();
};

}  // namespace fairgv::fuzz
