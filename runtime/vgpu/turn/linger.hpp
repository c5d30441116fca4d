// For how long a contended turn is kept although its program has nothing to issue (FairGV, section 3.2.2,
// hybrid spinning): the wait tunes itself to the program's pauses. Where long waits were in vain again and
// again there is none.
//
// Pure logic, not thread-safe: one owner.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/vgpu/turn/offer.hpp"
#include "sched/probe_pace.hpp"

namespace fairgv::vgpu {

class Linger {
 public:
  /// Bounds of the wait. The paper spins 100,000 times, which is longer.
  static constexpr Duration kShortest = std::chrono::microseconds(20);
  static constexpr Duration kLongest = std::chrono::microseconds(500);
  /// The number of shorter pauses, about, after which a long pause is forgotten: among many short pauses
  /// programs now and then pause longer, and a turn given back for that comes again only after everybody
  /// else's. A program that is waited for in vain is forgotten within a few turns.
  static constexpr int kPausesRemembered = 64;

  /// The program has had nothing to issue since then.
  void pauses(TimePoint since) { pausing_since_ = since; }
  /// The program has work again: the wait follows the longest of the recent pauses.
  void comes_back(TimePoint now);

  /// Begins to wait for the program, which pauses. False, and the wait was in vain: the turn is to be given
  /// back at once, by the device's own thread as it reports the end. The loop thread would first have to wake
  /// up, which takes as long as the shortest wait.
  /// `keep`: if that is longer than it would ever wait, it waits so long, and learns nothing from that.
  bool begin(Duration keep = Duration(0));
  void stop() {
    until_.reset();
    is_kept_ = false;
  }
  /// The wait is over, in vain.
  void ended_in_vain();

  /// Until when it waits, if it does.
  std::optional<TimePoint> until() const { return until_; }

 private:
  Duration wait_ = kLongest;
  sched::ProbePace long_waits_;
  std::optional<TimePoint> pausing_since_;  // the end of the program's last command, in this turn or not
  std::optional<TimePoint> until_;
  bool is_kept_ = false;  // for longer than it would wait
};

}  // namespace fairgv::vgpu
