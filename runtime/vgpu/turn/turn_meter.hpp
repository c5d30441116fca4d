// Measures the device time of one device's turns, says how many commands may be under way in a turn, and
// counts the commands that ended: everything about a turn but who has it (TurnClient) and how long it is kept
// unused (Linger).
//
// - Lone turns (slice 0): commands flow freely, but only as many are in flight as are predicted to fill one
//   slice, so that a newcomer is served within one; or as many as the dispatcher says, however long they are.
//   Charged: the intervals in which commands were in flight.
// - Contended turns: sched::TurnPlan decides. Commands of unknown kinds are measured one by one, each from
//   issue to completion; commands of known kinds run freely as long as they are expected to fit the slice,
//   and one synchronisation after the last measures them all (FairGV, section 3.3.2). Charged: the time from
//   the first issue to the last completion, without the time that others have stolen (a CPU device).
// - The dispatcher may have other commands sampled (sched/sampling.hpp): the first of each turn, or all. Then
// lone
//   turns, too, have one command in flight, and wait for its end.
//
// It writes to the turn page in an order that TurnClient's transitions complete. Without a clock; externally
// synchronised.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/turn/offer.hpp"
#include "sched/command_history.hpp"
#include "sched/turn_plan.hpp"
#include "slicing/planner.hpp"

namespace fairgv::vgpu {

struct TurnSettings {
  Duration slice = sched::TurnPlan::kDefaultSlice;  // the most that a lone turn keeps in flight, as predicted
  std::uint32_t samples = sched::CommandHistory::kDefaultSamples;
  /// For how much of the time since watch_for_theft() others kept the device from its work, if it had no work
  /// for `unused`. `rested`: nothing was under way since rest(), which is called while there is time. All or
  /// none of these functions.
  std::function<void()> rest{};
  std::function<void(bool rested)> watch_for_theft{};
  std::function<Duration(Duration unused)> stolen{};
  /// The session's, if its host side may be run together with its turns; outlives the turn.
  ring::Coscheduling* coscheduling = nullptr;
};

/// One device's part of the turn file. `promise`: null if the daemon is of an earlier release.
struct TurnPages {
  session::DeviceTurn& turn;
  session::TurnPromise* promise = nullptr;
};

class TurnMeter {
 public:
  /// The least and the most commands that a turn keeps in flight. Two keep the device busy while the worker
  /// wakes up.
  static constexpr std::uint64_t kLeastInFlight = sched::TurnPlan::kLeastInFlight;
  static constexpr std::uint64_t kMostInFlight = sched::TurnPlan::kMostInFlight;
  /// How often in a slice stolen time is looked at: a look takes system calls for each thread of the device.
  static constexpr int kStolenLooks = 4;

  TurnMeter(const TurnPages& pages, const TurnSettings& settings);

  // ---- a turn

  /// A turn begins, by the terms in the page. `rested`: see TurnSettings.
  void begin(bool rested, TimePoint now);
  /// Of the turn in progress: whether it is measured, because others wait.
  bool contended() const { return plan_.has_value(); }
  /// Of the turn in progress: whether it is given back when there is nothing to issue.
  bool gives_back() const { return contended() || gives_back_; }
  /// Of the turn in progress, or else the latest.
  Duration slice() const { return slice_; }
  /// Whether anything was issued in this turn.
  bool used() const { return issued_any_; }
  TimePoint last_completion() const { return last_completion_; }

  bool admits(const Offer& next) const { return refuses(next) == session::TurnWait::nothing; }
  /// Why the turn does not admit this command; `nothing` if it does.
  session::TurnWait refuses(const Offer& next) const;
  void issued(const Offer& next, TimePoint now);
  /// By the device's clock, in nanoseconds, one of the commands that completed() is about to report ran from
  /// `started` to `ended`: for the cross-check of the measurements.
  void ran(std::uint64_t started, std::uint64_t ended);
  /// `commands` issued ones, `launches` kernel launches among them, have ended.
  void completed(std::uint64_t commands, std::uint64_t launches, TimePoint now);
  /// Of a contended turn in which nothing is under way: the issued commands are measured.
  void close_run();
  /// Of a contended turn: the slice is used up. The plan counts the measured runs; the pauses between them
  /// must not stretch the turn either.
  bool spent() const { return (issued_any_ && in_turn() >= slice_) || plan_->over(); }
  /// The turn is about to be given back: its use is final.
  void end(TimePoint now);

  std::uint64_t in_flight() const { return in_flight_; }
  std::uint64_t in_flight_limit() const;
  /// Of a turn whose time in flight is bounded, with commands so long that two of them exceed the bound: from
  /// when on the next one may follow the one that runs. So it is there when that one ends, and another tenant
  /// that wakes waits for the rest of one command only.
  std::optional<TimePoint> next_from() const;
  /// Tells the time to in_flight_limit(), which goes by next_from().
  void look(TimePoint now) { next_is_due_ = in_flight_ == 1 && now >= next_from(); }
  /// Whether enough has ended for the next to be worth the loop thread's waking up. A turn lets half of its
  /// limit drain first, by the clock a quarter: waking the loop is some 20 us in which the driver's thread,
  /// which is the device where that is a CPU, does nothing else.
  bool has_drained() const;
  /// How many commands may go by unobserved, so that the next completion still comes in time.
  std::uint64_t observe_every() const;

  /// Statistics: of the commands reported by completed(), so many were parts of a launch, so many bytes were
  /// moved, and they stood for so many more commands, and launches among them (modulo 2^64: fewer, too).
  void count(std::uint64_t parts, std::uint64_t bytes, std::uint64_t commands = 0,
             std::uint64_t launches = 0) {
    publish(turn_.slices, slices_ += parts);
    publish(turn_.bytes, bytes_ += bytes);
    publish(turn_.commands, commands_ += commands);
    publish(turn_.launches, launches_ += launches);
  }

  // ---- for commands that are cut

  /// A launch has run whole, and took at most this. In lone turns nothing better is known. With this, the
  /// short launches of a program that was alone so far are not measured in parts when others come.
  void ran_whole(sched::CommandKind kind, Duration at_most);
  /// The time that a command took in all its parts is a sample for it.
  sched::CommandHistory& history() { return history_; }
  const sched::CommandHistory& history() const { return history_; }
  /// How long a part may be now; nothing while the tenant has the device to itself.
  std::optional<slicing::Slice> room() const;
  /// How long one command has kept the device from others, if that is longer than a slice and only it is
  /// issued. `asked`: the turn is asked for.
  std::optional<Duration> overrun_by_one(bool asked, TimePoint now);

 private:
  friend class TurnClient;

  /// Goes on where the page's totals stand: another worker may have begun the session. Before the first
  /// command.
  void take_over();
  /// Leaves out the time for which the dispatcher has stopped this process since the last call.
  void leave_out_pauses();
  Duration in_turn() const { return last_completion_ - turn_began_; }
  void charge_so_far(TimePoint now);
  void publish_used(Duration used);
  void publish_under_way(TimePoint since);
  /// Statistics and running totals: their readers need no order.
  static void publish(std::atomic<std::uint64_t>& to, std::uint64_t value) {
    to.store(value, std::memory_order_relaxed);
  }
  void cross_check(Duration measured);

  bool too_long(sched::CommandKind kind) const;
  std::optional<Duration> long_each() const;

  session::DeviceTurn& turn_;
  session::TurnPromise* const promise_;
  const TurnSettings& settings_;

  std::uint64_t in_flight_ = 0;
  TimePoint last_completion_{};
  Duration used_{0};        // all closed intervals so far
  Duration published_{0};   // of it and of the open one; never goes down
  Duration paused_{0};      // by the dispatcher; left out so far
  TimePoint turn_began_{};  // first issue of the interval being charged: the turn, or the time in flight

  std::optional<Duration> mean_;               // time per command; lone turns
  std::optional<sched::CommandKind> bounded_;  // the kind that is known to be short

  // Of a contended turn.
  sched::CommandHistory history_;  // from turn to turn
  std::optional<sched::TurnPlan> plan_;
  Duration slice_{0};
  // Bounds that the dispatcher has set; 0: none.
  std::uint64_t depth_ = 0;  // of commands in flight
  Duration in_flight_bound_{0};
  Duration cost_limit_{0};
  TimePoint front_began_{};   // the oldest command in flight
  bool next_is_due_ = false;  // by next_from()
  bool gives_back_ = false;   // although it is not measured
  sched::Sampling sampled_ = sched::Sampling::history;
  TimePoint stolen_until_{};  // stolen time is known up to here
  Duration unused_{0};        // for so long nothing was under way
  TimePoint unused_from_{};   // and, while nothing is, since then
  bool issued_any_ = false;
  TimePoint run_began_{};  // first issue since the last synchronisation
  std::uint64_t run_commands_ = 0;
  /// The device clock's times of this run.
  struct EventSpan {
    std::uint64_t commands = 0, first = 0, last = 0;
  } run_by_events_;

  // Totals behind the page's statistics, which this side reads only as it begins.
  std::uint64_t commands_ = 0, launches_ = 0, syncs_ = 0, samples_ = 0, slices_ = 0, bytes_ = 0;
  std::uint64_t checked_ = 0, by_events_ = 0;  // nanoseconds
};

}  // namespace fairgv::vgpu
