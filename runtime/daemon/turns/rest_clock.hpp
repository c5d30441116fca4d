// The time for which one device has rested while no session waited for it: policies that give out the
// device's time are told of it.
//
// Pure logic, time is an argument; not thread-safe.
#pragma once

#include <optional>
#include <utility>

#include "sched/policy.hpp"

namespace fairgv::daemon {

class RestClock {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  /// Sessions wait from now on, or none does.
  void stop() { since_.reset(); }
  void start(Time now) {
    since_ = now;
    used_ = Duration(0);
  }
  bool runs() const { return since_.has_value(); }
  void note_use(Duration used) {
    if (since_) used_ += used;
  }
  /// While the clock runs: the time since its start or the last call for which no session used the device.
  Duration take(Time now) { return now - *std::exchange(since_, now) - std::exchange(used_, {}); }

 private:
  std::optional<Time> since_;
  Duration used_{0};  // use of the device since then
};

}  // namespace fairgv::daemon
