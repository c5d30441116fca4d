// How many commands fill one turn: the sampling accountant of one session's turn on a device (FairGV,
// section 3.3.2).
//
// Waiting for the device after every command gives exact times and costs up to 7 %; never waiting lets a
// tenant queue seconds of work. So the first commands of a turn are measured one by one, their mean predicts
// how many more fill the slice, those run freely, and one synchronisation after the last measures them all:
//
//   measure_one x samples  ->  run_many(allowance)  ->  stop
//          |                     ^        |    ^
//          |  slice used up      +--------+    | clearly short of the slice: predict again and run on
//          +-----------------------------------+--> stop
//
// A prediction always rests on the newest measurement: once a free run was measured, it replaces the samples,
// so that a program that changed its phase is corrected within its turn. What is left over or overrun is for
// the fair queue to even out: it charges used(), which holds measured time only.
//
// A state machine without a clock. The executor asks next(), acts, and reports with measured(); the turn ends
// at stop. It can also end at any time before: when there is nothing to issue, report what was and release
// the device. At least one command runs per turn, however long its prediction. Not thread-safe: it belongs to
// one executor.
#pragma once

#include <cstdint>
#include <optional>

#include "sched/types.hpp"

namespace fairgv::sched {

class SlicePlan {
 public:
  static constexpr Duration kDefaultSlice = std::chrono::milliseconds(6);
  static constexpr std::uint32_t kDefaultSamples = 5;

  // No command is taken to be shorter than this: it bounds a prediction from samples too short to measure,
  // and the number of commands in a turn, which therefore ends even if the clock does not advance.
  static constexpr Duration kShortestCommand = std::chrono::microseconds(1);

  enum class Step {
    measure_one,  // issue exactly one command, wait until the device is idle, report with measured(time, 1)
    run_many,     // issue up to allowance() commands without waiting, then wait until idle and report them
    stop,         // release the device and charge used()
  };

  // slice: device time meant for the turn; at least 1 ns. samples: commands to measure singly before
  // predicting; at least one is measured unless prior_mean is known: the time per command from an earlier
  // turn, which skips the samples. A prior that is not positive counts as unknown.
  explicit SlicePlan(Duration slice = kDefaultSlice, std::uint32_t samples = kDefaultSamples,
                     std::optional<Duration> prior_mean = std::nullopt);

  Step next() const;

  // How many commands may be issued before the next synchronisation: 0 at stop, 1 at measure_one.
  std::uint64_t allowance() const;

  // After a synchronisation: this many commands kept the device busy for this long, since the last report.
  // Fewer than allowed is normal (the program had no more). A negative time counts as zero.
  void measured(Duration used, std::uint64_t commands);

  Duration used() const { return used_; }               // device time measured in this turn
  std::uint64_t commands() const { return commands_; }  // commands measured in this turn

  // Time per command on which the next prediction rests, to be kept as the next turn's prior; 0 while
  // unknown.
  Duration mean() const { return mean_; }

 private:
  bool sampling() const { return samples_left_ > 0; }
  std::uint64_t predicted() const;  // commands that fit what is left of the slice

  Duration slice_;
  std::uint32_t samples_left_;
  std::uint64_t most_commands_;  // per turn
  Duration mean_{0};
  Duration used_{0};
  std::uint64_t commands_ = 0;
};

}  // namespace fairgv::sched
