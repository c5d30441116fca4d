// A tenant's use of a CPU device's processors without a turn, and its cost.
//
// A turn of a device of N processors pays for N times its length of processor time: the device's threads, and
// what the worker does beside them. A worker also works outside of its turns: it takes calls in, opens the
// driver, and compiles. That much is allowed:
//
//   kAllowance  of one processor, all the time, and
//   kBurst      of processor time at once, which fills up again from the allowance.
//
// Use beyond both is charged: N times the length of one processor's work is the
// whole device for that long, so it costs an Nth of it. Charging alone does not stop code that runs without
// turns. So, while other tenants use the device, what was charged beyond the tenant's share of that time adds
// up (overdraft()), and falls again while it uses less.
//
// Of what a worker says that it compiles for its program nothing is allowed: what a compiler uses is the
// device's time, and charged. It is not held against the worker as far as one processor goes: it is not the
// program's choice how long a compiler takes. A worker that says so falsely is charged more, not less; and
// who does not come for a turn within kLongestCompiler, where that debt is paid by waiting, is excused no
// more.
//
// Pure logic; time is an argument.
#pragma once

#include <chrono>

namespace fairgv::daemon {

class ProcessorUse {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Of one processor: an honest worker that takes in launches of 20 us needs less (docs/SECURITY.md).
  static constexpr double kAllowance = 0.25;
  static constexpr std::chrono::seconds kBurst{1};
  /// Of the device's time beyond the tenant's share.
  static constexpr std::chrono::minutes kLongestCompiler{5};

  /// In the last `passed`, the tenant's processes have run for `ran`, its turns have paid for `paid` of the
  /// device's time, less than nothing if what they had promised has not come; and its share of the device was
  /// `share`, 1 if nobody else used it. Of `ran`, `compiled` is what compilers
  /// may have used. Returns what is to be charged of the device's time.
  Duration look(Duration passed, Duration ran, Duration paid, double share, unsigned processors,
                Duration compiled = Duration(0));

  /// By how much the device's time that was charged outside of turns is beyond the tenant's share.
  Duration overdraft() const { return overdraft_; }

  /// Whether nothing is lost by forgetting a tenant that has used nothing for so long.
  bool clear(Duration unused_for) const;

 private:
  Duration used_ = -kBurst;  // processor time beyond what was paid and allowed; beyond 0 it is charged
  Duration overdraft_{0};
  Duration excused_{0};  // of overdraft, for compilers, since the last turn
};

}  // namespace fairgv::daemon
