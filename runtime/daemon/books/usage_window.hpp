// Device time of about the last half second, for showing shares: short enough that a shown share is right
// well within a second of a change, long enough to hold many slices of every tenant. Costs nothing while
// nothing happens: there is no timer, old buckets are left behind when somebody looks.
//
// Pure logic, not thread-safe; time is an argument.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace fairgv::daemon {

class UsageWindow {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  static constexpr std::chrono::milliseconds kBucket{25};
  static constexpr std::int64_t kBuckets = 20;

  /// `used` of device time was spent somewhere between `from` and `to`: spread evenly. The part that lies
  /// before the window is dropped.
  void add(Time from, Time to, Duration used);

  /// The use during the last 0.475 to 0.5 s. Windows that are read at the same time cover the same time.
  Duration within(Time now) const;

 private:
  struct Bucket {
    std::int64_t number = -1;  // index of this kBucket in the clock's life
    Duration used{0};
  };

  std::array<Bucket, kBuckets> buckets_;
};

}  // namespace fairgv::daemon
