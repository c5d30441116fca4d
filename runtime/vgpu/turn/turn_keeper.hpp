// One device's turn, from the worker's side: says how many commands may be handed to the driver now, gives
// the turn back when it is over, and accounts the device time that it took.
//
// Speaks the protocol of runtime/session/turn.hpp with the dispatcher; its invariant: between a command's
// issued() and its completed() the state is busy or busy_asked. Two kinds of turn:
//
// - Lone (slice 0: nobody else waits, or the policy goes by the clock): nothing is sampled or synchronised.
//   Commands flow freely, but only as many are in flight as are predicted to fill one slice, so that a
//   newcomer is served within one; by the clock, as many as the dispatcher says, however long they are.
//   Charged: the intervals in which commands were in flight.
// - Contended: sched::TurnPlan decides. Commands of unknown kinds are measured one by one, each from issue to
//   completion; those of known kinds run freely as long as they are expected to fit the slice, and one
//   synchronisation after the last measures them all (FairGV, section 3.3.2). Charged: from the first issue
//   to the last completion, without what others have stolen of it (a CPU device). When the program has
//   nothing to issue, the turn is kept for a short time, which tunes itself to the program's pauses, and then
//   given back (section 3.2.2, hybrid spinning); that last, futile wait is not charged. Where waiting was
//   long in vain there is none.
//
// An asynchronous state machine without a clock: "synchronise" means that may_issue() is 0 until completed()
// has reported everything. Externally synchronised by the executor's lock, except changed(), which
// any thread may call at any time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "sched/command_history.hpp"
#include "sched/interactivity.hpp"
#include "sched/probe_pace.hpp"
#include "sched/turn_plan.hpp"
#include "slicing/planner.hpp"

namespace fairgv::vgpu {

using TimePoint = std::chrono::steady_clock::time_point;
using sched::Duration;

struct TurnSettings {
  Duration slice = sched::TurnPlan::kDefaultSlice;  // what a lone turn keeps in flight at most, as predicted
  std::uint32_t samples = sched::CommandHistory::kDefaultSamples;
  /// How much of the time since watch_for_theft() the device was kept from its work by others, if it had none
  /// for `unused`. `rested`: nothing was under way since rest(), which is called while there is time. All or
  /// none.
  std::function<void()> rest{};
  std::function<void(bool rested)> watch_for_theft{};
  std::function<Duration(Duration unused)> stolen{};
  /// The session's, if its host side may be run together with its turns; outlives the keeper.
  ring::Coscheduling* coscheduling = nullptr;
};

class TurnKeeper {
 public:
  /// The least and the most commands that a turn keeps in flight. Two keep the device busy while the worker
  /// wakes up.
  static constexpr std::uint64_t kLeastInFlight = sched::TurnPlan::kLeastInFlight;
  static constexpr std::uint64_t kMostInFlight = sched::TurnPlan::kMostInFlight;
  /// Bounds of the wait for more commands in a contended turn. The paper spins 100,000 times, which is
  /// longer.
  static constexpr Duration kShortestLinger = std::chrono::microseconds(20);
  static constexpr Duration kLongestLinger = std::chrono::microseconds(500);
  /// How many shorter pauses, about, it takes to forget a long one: among many short ones programs now and
  /// then pause longer, and a turn given back for it comes again only after everybody else's. Who lingers in
  /// vain forgets within a few turns.
  static constexpr int kPausesRemembered = 64;
  /// Part of a slice: how long a worker stays awake for a turn that was announced. The other's turn ends
  /// within that time, if all goes as expected (daemon::Dispatcher::end_expected()).
  static constexpr int kDueFraction = 5;
  /// How often in a slice what others have stolen is looked at: it takes system calls for each thread of the
  /// device.
  static constexpr int kStolenLooks = 4;

  /// `knock` tells the dispatcher to look at this turn.
  TurnKeeper(session::DeviceTurn& turn, const TurnSettings& settings, std::function<void()> knock);

  struct Offer {
    Offer(sched::CommandKind of_kind, bool is_part = false,
          std::optional<TimePoint> may_go_ahead_from = std::nullopt)
        : kind(of_kind), part(is_part), ahead_from(may_go_ahead_from) {}
    sched::CommandKind kind;
    bool part;  // of a command that is cut: nothing else is in flight with it
    /// In lone turns, from when on it may be issued although the part ahead of it has not ended.
    std::optional<TimePoint> ahead_from;
  };
  /// What to issue next, or nothing if there is nothing.
  using Next = std::optional<Offer>;

  /// How many commands may be issued now, as far as admits() takes them; not 0 only if the next one may. If
  /// there is work and no turn, asks for one; if there is a fresh turn, begins it.
  std::uint64_t may_issue(Next next, TimePoint now);

  /// Whether it may follow what is already issued, once may_issue() was not 0.
  bool admits(const Offer& next) const;

  /// What is admitted is about to be handed to the driver; at most as often as may_issue() allowed. `cpu`:
  /// where the program was when it sent it.
  void issued(const Offer& next, std::uint32_t cpu, TimePoint now);

  /// By the device's clock, in nanoseconds, one of the commands that completed() is about to report ran from
  /// `started` to `ended`: for the cross-check of what is measured.
  void ran(std::uint64_t started, std::uint64_t ended);

  /// `commands` issued ones, `launches` kernel launches among them, have ended.
  void completed(std::uint64_t commands, std::uint64_t launches, TimePoint now);

  /// One of the commands reported by completed() was a part of a launch; or moved so many bytes. Statistics.
  void ended_part() { publish(turn_.slices, ++slices_); }
  void moved(std::uint64_t bytes) { publish(turn_.bytes, bytes_ += bytes); }

  /// Call after issuing and after completions: ends what is over (a sample, a free run, the turn).
  void settle(Next next, TimePoint now);

  /// Whether the loop thread should come and issue the next command now. A turn lets half of its limit
  /// drain first, by the clock a quarter: waking the loop is some 20 us in which the driver's thread, which
  /// is the device where that is a CPU, does nothing else.
  bool worth_issuing(const Offer& next) const;

  // ---- for commands that are cut

  /// A launch has run whole, and took at most this. In lone turns nothing better is known: so a program that
  /// was alone so far does not have its short launches measured in parts when others come.
  void ran_whole(sched::CommandKind kind, Duration at_most);
  /// What a command took in all its parts.
  void ran_in_parts(sched::CommandKind kind, Duration used) { history_.sampled(kind, used); }
  /// What is expected of a command of this kind, from however few samples.
  std::optional<Duration> expected(sched::CommandKind kind) const { return history_.estimate(kind); }
  /// How long a part may be now; nothing while the tenant has the device to itself.
  std::optional<slicing::Slice> room() const;
  /// Work-groups of the smallest part, as the daemon wants it now; nothing: as the worker was started.
  std::optional<std::uint64_t> slicing_floor() const;
  /// How long one command has kept the device from others, if that is longer than a slice and only it is
  /// issued.
  std::optional<Duration> overrun_by_one(TimePoint now) const;

  /// Until when a grant is likely to come, so that it is worth being awake for it.
  std::optional<TimePoint> due_until() const { return due_until_; }

  /// Until when the turn is kept although there is nothing to issue; then call settle().
  std::optional<TimePoint> lingers_until() const { return lingers_until_; }

  /// Whether a command that came now could be issued at once, in a turn that nobody wants back.
  bool holds_turn() const {
    const session::TurnState state = peek();
    return state == session::TurnState::held || state == session::TurnState::busy;
  }

  std::uint64_t in_flight() const { return in_flight_; }
  /// How many commands may go by unobserved, so that the next completion still comes in time.
  std::uint64_t observe_every() const;

  /// Whether the dispatcher moved the state, or announced a turn, since this side last looked.
  bool changed() const {
    // Acquire: pairs with the dispatcher's release. Relaxed: seen_ is written under the lock, and a stale
    // value only makes the loop look once more.
    return turn_.state.load(std::memory_order_acquire) != seen_.load(std::memory_order_relaxed) ||
           turn_.due.load(std::memory_order_relaxed) != due_seen_.load(std::memory_order_relaxed);
  }

 private:
  session::TurnState peek() const;
  session::TurnState look();  // and remembers it: the caller acts on every state
  bool move(session::TurnState from, session::TurnState to);
  void notice_due(session::TurnState state, TimePoint now);
  void want();
  void begin(TimePoint now);
  void give_back(bool work, TimePoint now);
  bool contended() const { return plan_.has_value(); }
  std::uint64_t in_flight_limit() const;
  Duration in_turn() const { return last_completion_ - turn_began_; }
  void charge_so_far(TimePoint now);
  void publish_used(Duration used);
  void publish_under_way(TimePoint since);
  /// Statistics and running totals: whoever reads them needs no order.
  static void publish(std::atomic<std::uint64_t>& to, std::uint64_t value) {
    to.store(value, std::memory_order_relaxed);
  }
  void close_run();
  void cross_check(Duration measured);
  void settle_contended(Next next, TimePoint now);
  void classify(std::uint32_t cpu, TimePoint now);
  void switch_out();
  void learn_pause(Duration pause);
  void linger_in_vain();

  session::DeviceTurn& turn_;
  const TurnSettings settings_;
  const std::function<void()> knock_;
  std::atomic<std::uint32_t> seen_;  // the state as last looked at or moved; see changed()

  std::atomic<std::uint32_t> due_seen_;  // as the one above
  std::optional<TimePoint> due_until_;

  std::uint64_t in_flight_ = 0;
  TimePoint last_completion_{};
  Duration used_{0};        // all closed intervals so far
  Duration published_{0};   // of it and of the open one; never goes down
  TimePoint turn_began_{};  // first issue of the interval being charged: the turn, or the time in flight

  std::optional<Duration> mean_;               // time per command; lone turns
  std::optional<sched::CommandKind> bounded_;  // the kind that is known to be short
  sched::InteractivityClassifier interactivity_;

  // Of a contended turn.
  sched::CommandHistory history_;  // from turn to turn
  std::optional<sched::TurnPlan> plan_;
  Duration slice_{0};
  std::uint64_t depth_ = 0;   // of a turn by the clock
  TimePoint stolen_until_{};  // what was stolen is known of what had ended by then
  Duration unused_{0};        // for so long nothing was under way
  TimePoint unused_from_{};   // and, while nothing is, since then
  bool issued_any_ = false;
  bool rested_ = false;
  TimePoint run_began_{};  // first issue since the last synchronisation
  std::uint64_t run_commands_ = 0;
  /// What the device's clock says of this run.
  struct EventSpan {
    std::uint64_t commands = 0, first = 0, last = 0;
  } run_by_events_;
  std::optional<TimePoint> lingers_until_;
  Duration linger_ = kLongestLinger;
  sched::ProbePace long_lingers_;
  std::optional<TimePoint>
      pausing_since_;  // the program's: from the end of its last command, in this turn or not

  // Totals behind the page's statistics, which this side never reads back.
  std::uint64_t commands_ = 0, launches_ = 0, syncs_ = 0, samples_ = 0, slices_ = 0, bytes_ = 0;
  std::uint64_t checked_ = 0, by_events_ = 0;  // nanoseconds
};

}  // namespace fairgv::vgpu
