// Whether a program waits for the device so often that its host side should run together with its turns: the
// classifier of GPU-centric coscheduling (FairGV, section 3.2.3).
//
// More than ten synchronous calls per 10 ms make a program interactive. The paper counts on the wall clock of
// the host; here the clock runs only while the session has the device: a tenant that shares it with nine
// others would otherwise come to a tenth of the rate that it has when it runs, and be taken for a patient one
// just when waking it early matters most. Phases show the same way: each 10 ms of its own time decide anew.
//
// Pure logic, not thread-safe: one owner. Times do not go backwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "sched/types.hpp"

namespace fairgv::sched {

class InteractivityClassifier {
 public:
  static constexpr Duration kWindow = std::chrono::milliseconds(10);
  static constexpr std::uint32_t kMostPatientCalls = 10;

  using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

  /// The session has the device, and has made this many synchronous calls in its life: a count that may wrap.
  /// Calls made since the last report count even if the device was away: they wait for it.
  void observe(std::uint32_t calls, Time now);

  /// The session gives the device back: time stops until the next observe().
  void suspend(Time now);

  bool interactive() const { return interactive_; }

 private:
  void advance(Time now);

  std::optional<Time> running_since_;  // none: the device is away
  Duration in_window_{0};
  std::uint32_t seen_ = 0;   // the count at the last report
  std::uint32_t calls_ = 0;  // in this window
  bool interactive_ = false;
};

}  // namespace fairgv::sched
