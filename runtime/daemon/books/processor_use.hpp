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
// Compiling for the program has no allowance: compilers use the device's time, and it is charged. Up to one
// processor, that use adds nothing to the overdraft: how long a compiler takes is not the program's choice. A
// worker that claims falsely to compile is charged more, not less. A session that does not come for a turn
// within kLongestCompiler, where that debt is paid by waiting, is excused no more.
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

  /// In the last `passed`, the tenant's processes have run for `ran` and its turns have paid for `paid` of
  /// the device's time (negative if they have paid less than was expected at the last look). Its share of the
  /// device was `share`, 1 if nobody else used it. Compilers may have used `compiled` of `ran`. Returns the
  /// device time to charge.
  Duration look(Duration passed, Duration ran, Duration paid, double share, unsigned processors,
                Duration compiled = Duration(0));

  /// The device time that was charged outside of turns, beyond the tenant's share.
  Duration overdraft() const { return overdraft_; }

  /// Whether a tenant that has used nothing for so long can be forgotten without loss.
  bool clear(Duration unused_for) const;

 private:
  Duration used_ = -kBurst;  // processor time beyond what was paid and allowed; beyond 0 it is charged
  Duration overdraft_{0};
  Duration excused_{0};  // of overdraft, for compilers, since the last turn
};

}  // namespace fairgv::daemon
