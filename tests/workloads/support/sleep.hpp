#pragma once
// A program that leaves the device idle now and then: after each batch its host sleeps, so that a given ratio
// of its time is sleep (FairGV, section 5.4.5).

#include <algorithm>
#include <chrono>
#include <thread>

namespace workloads {

using Seconds = std::chrono::duration<double>;

/// The time that a host which has been awake and asleep for so long must sleep now, so that `ratio` (0 to
/// below 1) of its time is sleep. 0 while it has slept more than that, so that a sleep that was too long is
/// made up for.
inline Seconds sleep_due(Seconds awake, Seconds asleep, double ratio) {
  return std::max(awake * (ratio / (1.0 - ratio)) - asleep, Seconds(0.0));
}

class Sleeper {
 public:
  using Clock = std::chrono::steady_clock;

  Sleeper(double ratio, Clock::time_point start) : ratio_(ratio), start_(start) {}

  /// Sleeps for the time that is due at `now`, but not past `end`: nothing after the window is measured.
  void sleep(Clock::time_point now, Clock::time_point end) {
    const auto due =
        std::chrono::duration_cast<Clock::duration>(sleep_due(now - start_ - slept_, slept_, ratio_));
    if (due <= Clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min(due, end - now));
    slept_ += Clock::now() - now;
  }

  Seconds slept() const { return slept_; }

 private:
  const double ratio_;
  const Clock::time_point start_;
  Seconds slept_{0.0};
};

}  // namespace workloads
