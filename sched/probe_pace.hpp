// How often to retry something that has lately been in vain: after so many failures, and after twice as many
// each time that the trial fails, too, up to a limit. If nothing has changed for long, a change is noticed
// late, which costs less than trials that never pay.
//
// Pure logic, not thread-safe: one owner.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fairgv::sched {

class ProbePace {
 public:
  static constexpr std::uint32_t kFirst = 16;
  static constexpr std::uint32_t kLast = 64;

  /// Whether a trial is due now.
  bool due() const { return failures_ >= pace_; }

  /// An attempt was in vain, whether it was a trial or not.
  void failed() {
    if (due()) {
      failures_ = 0;
      pace_ = std::min(2 * pace_, kLast);
    } else {
      ++failures_;
    }
  }

  /// A trial was in vain, too, and nothing has paid since.
  bool hopeless() const { return pace_ > kFirst; }

  /// An attempt paid: the next trial comes soon again.
  void paid() { *this = {}; }

 private:
  std::uint32_t failures_ = 0;  // since the last trial
  std::uint32_t pace_ = kFirst;
};

}  // namespace fairgv::sched
