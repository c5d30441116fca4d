// One tenant's ceiling: the most device time that it may use in any second, whether others want the device or
// not.
//
// Two rules hold at once:
// - Window: in no second that has just passed has the tenant used more than `max` of it, but for the overrun
//   of its last turn, which is at most one command.
// - Pace: over shorter times the tenant keeps to `max` too, but for what `max` allows in 100 ms (the
//   smoothing period of gOver, section 3.4). Without it a tenant would use its second in one piece, and then
//   stand still for the rest of it. Time for which it waits for its turn is not lost up to then.
//
// A tenant that has used up what it may waits until a tenth of those 100 ms is free again, so that its turns
// do not become ever shorter.
//
// Pure logic, time is an argument and does not go backwards; not thread-safe, one owner. left() and free_at()
// are O(1) amortised.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "sched/attributes.hpp"
#include "sched/budget.hpp"
#include "sched/time.hpp"

namespace fairgv::sched {

class Ceiling {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(1);
  static constexpr Duration kPace = std::chrono::milliseconds(100);
  /// Part of the pace's budget that must be free before the tenant goes on.
  static constexpr int kResumePart = 10;
  /// Use within so long a time is one interval, so that memory has a bound. It counts as if it had come at
  /// the end of it: the tenant gains nothing.
  static constexpr Duration kGrain = std::chrono::milliseconds(1);

  /// max: at least 1 ppm.
  explicit Ceiling(Share max) : max_(max) {}

  Share max() const { return max_; }
  /// Holds from now on, for what was used before, too.
  void set(Share max, Time now);

  /// Device time that may be used now; not positive: none.
  Duration left(Time now);
  /// The first moment from which on a tenant that may use nothing goes on, if it uses nothing until then.
  Time free_at(Time now);
  /// The tenant has used the device for this long, until now.
  void charge(Duration used, Time now);

  /// Whether a ceiling that was forgotten and made anew would allow no more.
  bool fresh(Time now) const;

  /// For a ceiling of another policy object.
  std::vector<UsedInterval> last_second() const { return {log_.begin(), log_.end()}; }
  Time paced_until() const { return paced_until_; }
  void restore(const std::vector<UsedInterval>& last_second, Time paced_until);

 private:
  /// A debt is not longer, so that no sum overflows: 100 years.
  static constexpr Duration kLongestDebt = std::chrono::hours(24 * 36'525);

  Duration resume() const { return std::max(max_.of(kPace) / kResumePart, Duration(1)); }
  Duration time_for(Duration used) const;
  Duration in_window(Time now);

  Share max_;
  std::deque<UsedInterval> log_;        // of the last second; the oldest first
  Duration logged_{0};                  // all of it
  Time paced_until_{Duration(-kPace)};  // the pace's budget is used up to here
};

}  // namespace fairgv::sched
