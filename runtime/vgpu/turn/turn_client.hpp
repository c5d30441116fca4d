// One device's turn, from the worker's side: asks for it, says how many commands may be handed to the driver
// now, and gives it back when it is over.
//
// Speaks the protocol of runtime/session/turn.hpp with the dispatcher; its invariant: between a command's
// issued() and its completed() the state is busy or busy_asked. Two kinds of turn: lone ones (slice 0), which
// last as long as the dispatcher does not ask for them, and contended ones, which end with their slice, or
// when the program has had nothing to issue for a moment (Linger); that last, futile wait is not charged.
// TurnMeter has the measurements.
//
// An asynchronous state machine without a clock: "synchronise" means that may_issue() permits nothing until
// completed() has reported everything. Externally synchronised by the executor's lock, except changed(),
// which any thread may call at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/turn/interactive.hpp"
#include "runtime/vgpu/turn/linger.hpp"
#include "runtime/vgpu/turn/offer.hpp"
#include "runtime/vgpu/turn/turn_meter.hpp"

namespace fairgv::vgpu {

class TurnClient {
 public:
  /// Part of a slice: how long a worker stays awake for a turn that was announced. The turn of the other
  /// session ends within that time, if all goes as expected (daemon::Dispatcher::end_expected()).
  static constexpr int kDueFraction = 5;

  /// `knock` tells the dispatcher to look at this turn. The pages outlive this.
  TurnClient(const TurnPages& pages, const TurnSettings& settings, std::function<void()> knock);

  /// `keep`: for how long a contended turn is kept at least though there is nothing to issue, as giving it
  /// back costs as much. Before the first command.
  void keep_turns(std::function<Duration()> keep) { keep_ = std::move(keep); }
  /// Until now another worker had the session's turns. Before the first command.
  void take_over() { meter_.take_over(); }

  /// How many commands may be issued now, as far as admits() takes them; not 0 only if the next one may. If
  /// there is work and no turn, asks for one; if there is a fresh turn, begins it.
  Permit may_issue(const Next& next, TimePoint now);

  /// Whether it may follow what is already issued, once may_issue() was not 0.
  bool admits(const Offer& next) const { return meter_.admits(next); }

  /// The admitted command is about to be handed to the driver; at most as often as may_issue() allowed.
  /// `cpu`: the processor on which the program ran when it sent the command.
  void issued(const Offer& next, std::uint32_t cpu, TimePoint now);

  /// See TurnMeter.
  void ran(std::uint64_t started, std::uint64_t ended) { meter_.ran(started, ended); }
  void completed(std::uint64_t commands, std::uint64_t launches, TimePoint now) {
    meter_.completed(commands, launches, now);
  }

  /// Call after issuing and after completions: ends a sample, a free run or the turn, if it is over.
  void settle(const Next& next, TimePoint now);

  /// Whether the loop thread should come and issue the next command now.
  bool worth_issuing(const Offer& next) const;

  /// Work-groups of the smallest part, as the daemon wants it now; nothing: as the worker was started.
  std::optional<std::uint64_t> slicing_floor() const;
  /// How long one command has kept the device from others, if that is longer than a slice and only it is
  /// issued.
  std::optional<Duration> overrun_by_one(TimePoint now);

  /// Until when a grant is likely to come, so that it is worth being awake for it.
  std::optional<TimePoint> due_until() const { return due_until_; }

  /// When the next command may be issued although one is in flight, if that is to come.
  std::optional<TimePoint> next_from() const { return meter_.next_from(); }

  /// Until when the turn is kept although there is nothing to issue; then call settle().
  std::optional<TimePoint> lingers_until() const { return linger_.until(); }

  /// Whether a command that came now could be issued at once, in a turn that has not been asked for.
  bool holds_turn() const {
    const session::TurnState state = turn_.look();
    return state == session::TurnState::held || state == session::TurnState::busy;
  }

  /// Whether a turn has begun and was neither given back nor put by.
  bool is_busy() const {
    const session::TurnState state = turn_.look();
    return state == session::TurnState::busy || state == session::TurnState::busy_asked;
  }

  std::uint64_t in_flight() const { return meter_.in_flight(); }
  std::uint64_t observe_every() const { return meter_.observe_every(); }

  /// Says in the page why the next command waits. For people.
  void tell_wait(session::TurnWait why) {
    if (std::exchange(told_, why) != why)
      page_.waits_for.store(static_cast<std::uint32_t>(why), std::memory_order_relaxed);
  }

  TurnMeter& meter() { return meter_; }
  const TurnMeter& meter() const { return meter_; }

  /// Whether the dispatcher moved the state, or announced a turn, since this side last looked.
  bool changed() const {
    // Acquire: pairs with the dispatcher's release. Relaxed: seen_ is written under the lock, and a stale
    // value only makes the loop look once more.
    return page_.state.load(std::memory_order_acquire) != seen_.load(std::memory_order_relaxed) ||
           page_.due.load(std::memory_order_relaxed) != due_seen_.load(std::memory_order_relaxed);
  }

 private:
  /// Notes a state that was seen or made, so that changed() knows it: the caller acts on every state.
  session::TurnState saw(session::TurnState state) {
    seen_.store(static_cast<std::uint32_t>(state), std::memory_order_relaxed);
    return state;
  }
  [[gnu::always_inline]] Permit of_busy_turn(const Next& next, TimePoint now);
  void notice_due(session::TurnState state, TimePoint now);
  void want(const Offer& next);
  void publish_next(const Offer& next);
  void give_back(const Next& next, TimePoint now);
  void settle_contended(const Next& next, TimePoint now);
  void linger_or_give_back(TimePoint now);

  session::DeviceTurn& page_;
  session::TurnPromise* const promise_;
  session::WorkerTurn turn_;
  const TurnSettings settings_;
  const std::function<void()> knock_;
  std::function<Duration()> keep_{};
  std::atomic<std::uint32_t> seen_;      // the state as last looked at or moved; see changed()
  std::atomic<std::uint32_t> due_seen_;  // as the one above
  std::optional<TimePoint> due_until_;
  session::TurnWait told_ = session::TurnWait::nothing;  // as the page has it
  bool rested_ = false;

  TurnMeter meter_;
  Linger linger_;
  Interactive interactive_;
};

}  // namespace fairgv::vgpu
