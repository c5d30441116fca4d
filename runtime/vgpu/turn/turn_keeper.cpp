#include "runtime/vgpu/turn/turn_keeper.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::vgpu {
namespace {

using session::TurnState;

constexpr std::uint32_t raw(TurnState state) {
  return static_cast<std::uint32_t>(state);
}

}  // namespace

TurnKeeper::TurnKeeper(session::DeviceTurn& turn, const TurnSettings& settings, std::function<void()> knock)
    : turn_(turn),
      settings_(settings),
      knock_(std::move(knock)),
      seen_(turn.state.load(std::memory_order_acquire)),
      due_seen_(turn.due.load(std::memory_order_relaxed)),
      history_(settings.samples) {}

std::uint64_t TurnKeeper::may_issue(Next next, TimePoint now) {
  const bool work = next.has_value();
  if (work && pausing_since_) learn_pause(now - *std::exchange(pausing_since_, std::nullopt));
  for (;;) {
    const TurnState state = look();
    notice_due(state, now);
    switch (state) {
      case TurnState::idle:
        if (work) want();
        return 0;
      case TurnState::wanting:
      case TurnState::busy_asked:
        return 0;
      case TurnState::held:
        if (!work && turn_.slice_ns.load(std::memory_order_relaxed) == 0) return 0;
        // A contended turn that came too late to be of use begins too, and is given back by settle().
        if (move(TurnState::held, TurnState::busy)) begin(now);
        continue;  // or the dispatcher has taken the unused turn back: look again
      case TurnState::busy:
        if (!contended()) {
          if (work && next->part)
            return admits(*next) && (in_flight_ == 0 || now >= *next->ahead_from) ? 1 : 0;
          return in_flight_limit() - std::min(in_flight_limit(), in_flight_);
        }
        if (in_flight_ == 0) settle(next, now);  // may end the turn
        return work && contended() && admits(*next) ? kMostInFlight : 0;
    }
    return 0;
  }
}

void TurnKeeper::notice_due(TurnState state, TimePoint now) {
  const std::uint32_t due = turn_.due.load(std::memory_order_relaxed);
  const bool announced = due_seen_.exchange(due, std::memory_order_relaxed) != due;
  if (state != TurnState::wanting) {
    due_until_.reset();
  } else if (announced) {
    // The other's turn is about as long as its own last one was.
    due_until_ = now + std::max(settings_.slice, slice_) / kDueFraction;
  }
}

bool TurnKeeper::admits(const Offer& next) const {
  if (!contended()) return !next.part || in_flight_ == 0 || (in_flight_ == 1 && next.ahead_from);
  if (next.part) return plan_->admits_part();
  return plan_->admits(next.kind) && in_flight_ < in_flight_limit();
}

void TurnKeeper::issued(const Offer& next, std::uint32_t cpu, TimePoint now) {
  lingers_until_.reset();
  classify(cpu, now);
  const bool opens_interval = contended() ? !issued_any_ : in_flight_ == 0;
  if (opens_interval) turn_began_ = last_completion_ = stolen_until_ = now;
  issued_any_ = true;
  in_flight_ += 1;
  if (!contended()) {
    if (opens_interval) publish_under_way(now);
    return;
  }
  if (in_flight_ == 1) unused_ += now - unused_from_;
  if (plan_->idle()) {
    run_began_ = now;
    run_commands_ = 0;
    run_by_events_ = {};
  }
  run_commands_ += 1;
  if (next.part) {
    plan_->issued_part();
  } else {
    plan_->issued(next.kind);
  }
}

void TurnKeeper::ran(std::uint64_t started, std::uint64_t ended) {
  if (!contended()) return;
  EventSpan& run = run_by_events_;
  run.first = run.commands == 0 ? started : std::min(run.first, started);
  run.last = std::max(run.last, ended);
  run.commands += 1;
}

void TurnKeeper::completed(std::uint64_t commands, std::uint64_t launches, TimePoint now) {
  if (commands == 0) return;
  in_flight_ -= commands;
  if (!contended()) {
    const Duration each = (now - last_completion_) / static_cast<std::int64_t>(commands);
    mean_ = mean_ ? (3 * *mean_ + each) / 4 : each;
  }
  last_completion_ = unused_from_ = now;
  publish(turn_.commands, commands_ += commands);
  publish(turn_.launches, launches_ += launches);
  if (!contended() && in_flight_ == 0) {
    used_ += in_turn();
    turn_began_ = now;
  }
  if (contended()) {
    if (issued_any_ && (!settings_.stolen || now - stolen_until_ >= slice_ / kStolenLooks))
      charge_so_far(now);
  } else {
    publish_used(used_ + (in_flight_ != 0 ? in_turn() : Duration::zero()));
    publish_under_way(in_flight_ != 0 ? now : TimePoint());
  }
}

void TurnKeeper::settle(Next next, TimePoint now) {
  if (in_flight_ != 0) return;
  const bool work = next.has_value();
  // Not look(): a grant that arrives now must still count as changed(), or nobody would act on it.
  const TurnState state = peek();
  if (state != TurnState::busy && state != TurnState::busy_asked) return;
  if (contended()) {
    close_run();
    if (state == TurnState::busy_asked) {
      give_back(work, now);
    } else {
      settle_contended(next, now);
    }
  } else if (state == TurnState::busy_asked || (!work && !move(TurnState::busy, TurnState::held))) {
    give_back(work, now);
  }
}

bool TurnKeeper::worth_issuing(const Offer& next) const {
  const auto state = static_cast<TurnState>(seen_.load(std::memory_order_relaxed));
  if (state == TurnState::wanting || state == TurnState::busy_asked) return false;
  if (state != TurnState::busy) return true;
  if (next.part) return in_flight_ == 0 || admits(next);
  if (contended() && in_flight_ > 0 && !admits(next)) return false;
  const std::uint64_t limit = in_flight_limit();
  // By the clock a driver's queue is to be nearly full, as without FairGV: that is what such a policy gives
  // away.
  const std::uint64_t drained = depth_ > 0 ? std::max<std::uint64_t>(1, limit / 4) : (limit + 1) / 2;
  return in_flight_ + drained <= limit;
}

std::uint64_t TurnKeeper::observe_every() const {
  // Half of what is in flight has to be seen to end; contended, more costs the device's own threads time.
  if (contended()) return std::clamp<std::uint64_t>(in_flight_limit() / 3, 1, 64);
  return std::max<std::uint64_t>(1, in_flight_limit() / 8);
}

void TurnKeeper::ran_whole(sched::CommandKind kind, Duration at_most) {
  if (contended() || bounded_ == kind) return;
  history_.bounded(kind, at_most);
  // The first launch of a kernel may have waited for its compilation: a long one is looked at again.
  if (at_most <= settings_.slice) bounded_ = kind;
}

std::optional<slicing::Slice> TurnKeeper::room() const {
  if (contended()) return slicing::Slice{plan_->left(), slice_};
  // Relaxed: a hint.
  if (turn_.company.load(std::memory_order_relaxed) == 0) return std::nullopt;
  return slicing::Slice{settings_.slice, settings_.slice};
}

std::optional<std::uint64_t> TurnKeeper::slicing_floor() const {
  const std::uint64_t floor = turn_.slicing_floor.load(std::memory_order_relaxed);
  return floor == 0 ? std::nullopt : std::optional(floor);
}

std::optional<Duration> TurnKeeper::overrun_by_one(TimePoint now) const {
  if (in_flight_ != 1) return std::nullopt;
  if (contended() ? run_commands_ != 1 : peek() != TurnState::busy_asked) return std::nullopt;
  const Duration held = now - (contended() ? run_began_ : last_completion_);
  return held > (contended() ? slice_ : settings_.slice) ? std::optional(held) : std::nullopt;
}

TurnState TurnKeeper::peek() const {
  // Acquire: pairs with the dispatcher's release; slice_ns and depth are seen with `held`.
  return static_cast<TurnState>(turn_.state.load(std::memory_order_acquire));
}

TurnState TurnKeeper::look() {
  const TurnState state = peek();
  seen_.store(raw(state), std::memory_order_relaxed);
  return state;
}

bool TurnKeeper::move(TurnState from, TurnState to) {
  std::uint32_t expected = raw(from);
  // Release: used_ns is seen with the state. Acquire: as in look().
  const bool moved = turn_.state.compare_exchange_strong(expected, raw(to), std::memory_order_acq_rel,
                                                         std::memory_order_acquire);
  seen_.store(moved ? raw(to) : expected, std::memory_order_relaxed);
  return moved;
}

void TurnKeeper::want() {
  switch_out();  // the dispatcher may have taken an unused turn back, of which this side heard nothing
  // From idle only this side moves.
  seen_.store(raw(TurnState::wanting), std::memory_order_relaxed);
  turn_.state.store(raw(TurnState::wanting), std::memory_order_release);
  knock_();
  // While the dispatcher wakes up and, mostly, somebody else has the device: a turn of one's own has no time
  // for that.
  if (settings_.rest) settings_.rest();
  rested_ = true;
}

void TurnKeeper::begin(TimePoint now) {
  slice_ = Duration(turn_.slice_ns.load(std::memory_order_relaxed));
  depth_ = std::min<std::uint64_t>(turn_.depth.load(std::memory_order_relaxed), kMostInFlight);
  plan_.reset();
  if (slice_ > Duration::zero()) {
    plan_.emplace(slice_, history_);
    if (settings_.watch_for_theft) settings_.watch_for_theft(rested_);
    unused_ = Duration::zero();
    unused_from_ = now;
  }
  issued_any_ = rested_ = false;
}

void TurnKeeper::give_back(bool work, TimePoint now) {
  if (contended() && issued_any_) {
    charge_so_far(now);
    used_ = published_;
    if (plan_->commands() > 0) mean_ = plan_->used() / static_cast<std::int64_t>(plan_->commands());
    if (!work) pausing_since_ = last_completion_;
  }
  plan_.reset();
  lingers_until_.reset();
  publish_used(used_);
  switch_out();
  const TurnState next = work ? TurnState::wanting : TurnState::idle;
  seen_.store(raw(next), std::memory_order_relaxed);
  // Release: pairs with the dispatcher's acquire; used_ns is final. A store is enough: from busy the
  // dispatcher only ever moves to busy_asked, which this overtakes.
  turn_.state.store(raw(next), std::memory_order_release);
  knock_();
}

/// The device is not this session's any more.
void TurnKeeper::switch_out() {
  if (settings_.coscheduling == nullptr) return;
  interactivity_.suspend(last_completion_);
  settings_.coscheduling->switch_out();
}

/// Once per command: whether the program's threads are to run together with this turn, and what the
/// dispatcher needs to know when it switches the session in the next time. A lone tenant is never switched in
/// by the dispatcher, so it is here that its turn becomes one to spin through.
void TurnKeeper::classify(std::uint32_t cpu, TimePoint now) {
  if (settings_.coscheduling == nullptr) return;
  interactivity_.observe(settings_.coscheduling->synchronous_calls.load(std::memory_order_relaxed), now);
  const std::uint32_t interactive_cpu = interactivity_.interactive() ? cpu + 1 : 0;
  // Looked at first: the page's line stays shared while nothing changes.
  if (turn_.interactive_cpu.load(std::memory_order_relaxed) != interactive_cpu) {
    turn_.interactive_cpu.store(interactive_cpu, std::memory_order_relaxed);
  }
  if (interactivity_.interactive() == settings_.coscheduling->switched_in()) return;
  if (interactivity_.interactive()) {
    settings_.coscheduling->switch_in();
  } else {
    settings_.coscheduling->switch_out();
  }
}

std::uint64_t TurnKeeper::in_flight_limit() const {
  if (contended()) return plan_->most_in_flight();
  if (depth_ > 0) return depth_;
  if (!mean_) return kLeastInFlight;
  const Duration each = std::max(*mean_, sched::CommandHistory::kShortestCommand);
  return std::clamp(static_cast<std::uint64_t>(settings_.slice / each), kLeastInFlight, kMostInFlight);
}

/// Of a contended turn. Nothing is published that may turn out to have been stolen: the dispatcher takes
/// nothing back, and what it would make good later might be claimed when it is nobody's debt any more.
void TurnKeeper::charge_so_far(TimePoint now) {
  const Duration unused = unused_ + (in_flight_ == 0 ? now - unused_from_ : Duration::zero());
  const Duration stolen = settings_.stolen ? settings_.stolen(unused) : Duration::zero();
  stolen_until_ = last_completion_;
  publish_used(used_ + in_turn() - std::clamp(stolen, Duration::zero(), in_turn()));
}

/// Never goes down.
void TurnKeeper::publish_used(Duration used) {
  published_ = std::max(published_, used);
  publish(turn_.used_ns, static_cast<std::uint64_t>(published_.count()));
}

/// Commands whose time publish_used() does not have yet are under way since then; the epoch: none are.
void TurnKeeper::publish_under_way(TimePoint since) {
  publish(turn_.under_way_since_ns, static_cast<std::uint64_t>(since.time_since_epoch().count()));
}

void TurnKeeper::close_run() {
  if (plan_->idle()) return;
  if (plan_->sampling()) publish(turn_.samples, ++samples_);
  publish(turn_.syncs, ++syncs_);
  const Duration measured = last_completion_ - run_began_;
  cross_check(measured);
  plan_->measured(measured);
}

/// Only told, never charged: a program could otherwise save what lies between issuing and starting by asking
/// for timestamps.
void TurnKeeper::cross_check(Duration measured) {
  const EventSpan& run = run_by_events_;
  if (run.commands == 0 || run.commands != run_commands_) return;
  publish(turn_.checked_ns, checked_ += static_cast<std::uint64_t>(measured.count()));
  publish(turn_.by_events_ns, by_events_ += run.last - std::min(run.first, run.last));
}

void TurnKeeper::settle_contended(Next next, TimePoint now) {
  // The plan counts the measured runs; the pauses between them must not stretch the turn either.
  const bool spent = issued_any_ && in_turn() >= slice_;
  if (spent || plan_->over() || (next && !admits(*next))) {
    give_back(next.has_value(), now);
  } else if (next) {
    return;
  } else if (!lingers_until_) {
    pausing_since_ = issued_any_ ? last_completion_ : now;
    // A long one tries now and then whether the program's pauses have become short.
    if (long_lingers_.due()) {
      lingers_until_ = *pausing_since_ + kLongestLinger;
    } else if (!long_lingers_.hopeless()) {
      lingers_until_ = *pausing_since_ + linger_;
    } else {
      // The device's own thread gives it back, as it reports the end: the loop thread would first have to
      // wake up, which takes as long as the shortest wait.
      linger_in_vain();
      give_back(false, now);
    }
  } else if (now >= *lingers_until_) {
    linger_in_vain();
    give_back(false, now);
  }
}

/// How long the program took to come back with work; the turn may be gone by then. The wait follows the
/// longest of the lately seen pauses. A long pause outside the turn teaches nothing: the program may just not
/// have got a processor while another tenant had the device.
void TurnKeeper::learn_pause(Duration pause) {
  if (pause > kLongestLinger) return;
  linger_ = std::clamp<Duration>(std::max<Duration>(2 * pause, linger_ - linger_ / kPausesRemembered),
                                 kShortestLinger, kLongestLinger);
  long_lingers_.paid();
}

void TurnKeeper::linger_in_vain() {
  linger_ = std::max<Duration>(linger_ * 3 / 4, kShortestLinger);
  long_lingers_.failed();
}

}  // namespace fairgv::vgpu
