// Decides which commands may still run in a turn on the device: the accountant of one session's turn (FairGV,
// section 3.3.2, with a history of commands).
//
// Waiting for the device after every command gives exact times and costs up to 7 %; never waiting lets a
// tenant queue seconds of work. So a command of an unknown kind runs alone and is measured; commands of known
// kinds run freely as long as the history expects them to fit into the rest of the slice; and one
// synchronisation after the last measures them all:
//
//   admits(kind)? ── yes: issue, issued(kind), ask again
//        └── no: wait until the device is idle, measured(time), ask again; over() or still no: the turn ends
//
// The first command of a turn is always admitted, however long. The fair queue evens out unused and overrun
// time: it charges used(), which holds measured time only.
//
// That is Sampling::history. As published the first five commands of each turn are measured, and the others
// are expected to take their mean (Sampling::per_turn); or every command is (Sampling::always).
//
// A command that is known to be long may be cut into parts (slicing/planner.hpp). A part always runs alone
// and is measured. Its time says nothing of its kind, so the code that cuts reports the whole command to the
// history.
//
// A state machine without a clock. The turn can also end early: if there is nothing to issue, report the time
// so far and release the device. Not thread-safe: it belongs to one executor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sched/command_history.hpp"
#include "sched/sampling.hpp"
#include "sched/types.hpp"

namespace fairgv::sched {

class TurnPlan {
 public:
  static constexpr Duration kDefaultSlice = std::chrono::milliseconds(6);
  // A free run costs one synchronisation, some ten microseconds. Below this part of the slice a run is not
  // worth that: the turn is over, and the fair queue gives the rest back.
  static constexpr int kWorthwhileFraction = 10;
  // Part of the slice that a free run keeps in flight at a time, so that a turn that is asked for ends soon.
  // Of slices of up to kDefaultSlice it is the whole: where many share the device, the thread that issues the
  // rest may be late.
  static constexpr int kInFlightFraction = 2;
  static constexpr std::uint64_t kLeastInFlight = 2;
  static constexpr std::uint64_t kMostInFlight = 256;
  // Commands that are sampled in a turn as published: "5 in our system".
  static constexpr std::int64_t kSamplesPerTurn = 5;

  // slice: device time meant for the turn; at least 1 ns. in_flight: the most that is in flight at a time, as
  // predicted, but at least kLeastInFlight commands; 0: as above. The history outlives the plan.
  TurnPlan(Duration slice, CommandHistory& history, Duration in_flight = Duration(0),
           Sampling sampled = Sampling::history);

  // Whether a command of this kind may be issued without a synchronisation before it.
  bool admits(CommandKind kind) const;

  // Whether a command of this kind needs no sample.
  bool knows(CommandKind kind) const { return expected(kind).has_value(); }

  // The command was issued; call only after admits().
  void issued(CommandKind kind);

  // The same for a part of a command.
  bool admits_part() const { return idle() && (commands_ == 0 || !over()); }
  void issued_part() { part_ = true; }

  // The commands issued since the last report have ended, and kept the device busy for so long. A negative
  // time counts as zero.
  void measured(Duration used);

  // How many commands like those of the run may be in flight; the rest are issued as these end.
  std::uint64_t most_in_flight() const;

  // Whether nothing was issued since the last report.
  bool idle() const { return run_.empty() && !part_; }

  // Whether one command, or a part of one, is being measured by itself.
  bool sampling() const { return sampling_ || part_; }

  // Whether the slice is used up, or its rest is not worth another synchronisation.
  bool over() const;

  Duration used() const { return used_; }               // device time measured in this turn
  std::uint64_t commands() const { return commands_; }  // commands and parts measured in this turn
  Duration left() const { return slice_ - used_; }      // of the slice; negative when it is overrun

 private:
  std::optional<Duration> expected(CommandKind kind) const;

  CommandHistory& history_;
  const Duration slice_;
  const Duration in_flight_;
  const Sampling sampled_;
  Duration used_{0};
  std::uint64_t commands_ = 0;
  std::int64_t samples_ = 0;  // commands that were measured one by one in this turn, and their time
  Duration in_samples_{0};

  // The commands since the last report.
  std::vector<CommandHistory::Count> run_;
  std::uint64_t run_commands_ = 0;
  Duration run_expected_{0};
  bool sampling_ = false;
  bool part_ = false;
};

}  // namespace fairgv::sched
