// Turns of one device that are over, for tracing.
//
// Pure logic; not thread-safe, the dispatcher owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/daemon/tenants/ids.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

struct TracedTurn {
  SessionId session;
  std::uint32_t device;  // the host's device that the turn was for
  sched::Time wanted;    // when its session began to wait for it
  sched::Time granted;
  sched::Time ended;  // or the moment of asking, if the turn is not over
  sched::Duration charged{0};
  sched::Duration slice{0};  // 0: without an end
  bool over = true;
  bool promised = false;         // it serves a guarantee
  sched::Duration in_flight{0};  // the most device time in flight, as predicted; 0: no bound
};

class TurnLog {
 public:
  static constexpr std::size_t kMost = 65'536;

  using Clock = sched::Time (*)();

  /// Whether turns are remembered from now on, at most kMost until they are taken. `clock` is for time().
  void turn_on(bool on, Clock clock = nullptr) {
    on_ = on;
    clock_ = clock;
    turns_ = {};
    lost_ = 0;
  }
  bool is_on() const { return on_; }
  /// When a turn began or ended. The dispatcher reads `now` once and then looks at all sessions: what it sees
  /// may be younger, by a millisecond if the dispatcher had to wait for a processor.
  sched::Time time(sched::Time now) const { return on_ && clock_ != nullptr ? std::max(now, clock_()) : now; }
  void note(const TracedTurn& turn) {
    if (!on_) return;
    if (turns_.size() < kMost) {
      turns_.push_back(turn);
    } else {
      ++lost_;
    }
  }
  /// Turns that ended since the last call. Adds the number of lost turns to `lost`.
  std::vector<TracedTurn> take(std::uint64_t& lost) {
    lost += std::exchange(lost_, 0);
    return std::exchange(turns_, {});
  }

 private:
  bool on_ = false;
  Clock clock_ = nullptr;
  std::vector<TracedTurn> turns_;
  std::uint64_t lost_ = 0;
};

}  // namespace fairgv::daemon
