#include "runtime/vgpu/turn/turn_meter.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace fairgv::vgpu {

using session::TurnWait;

namespace {

/// A number that a later daemon may know is taken for the usual.
sched::Sampling sampling_of(std::uint64_t number) {
  for (const auto& [name, sampling] : sched::kSamplings) {
    if (number == static_cast<std::uint64_t>(sampling)) return sampling;
  }
  return sched::Sampling::history;
}

std::uint64_t stands_at(const std::atomic<std::uint64_t>& total) {
  return total.load(std::memory_order_relaxed);
}

}  // namespace

TurnMeter::TurnMeter(const TurnPages& pages, const TurnSettings& settings)
    : turn_(pages.turn), promise_(pages.promise), settings_(settings), history_(settings.samples) {
  take_over();
}

void TurnMeter::take_over() {
  published_ = used_ = Duration(stands_at(turn_.used_ns));
  paused_ = Duration(promise_ == nullptr ? 0 : stands_at(promise_->paused_ns));
  commands_ = stands_at(turn_.commands);
  launches_ = stands_at(turn_.launches);
  syncs_ = stands_at(turn_.syncs);
  samples_ = stands_at(turn_.samples);
  slices_ = stands_at(turn_.slices);
  bytes_ = stands_at(turn_.bytes);
  checked_ = stands_at(turn_.checked_ns);
  by_events_ = stands_at(turn_.by_events_ns);
}

void TurnMeter::begin(bool rested, TimePoint now) {
  slice_ = Duration(turn_.slice_ns.load(std::memory_order_relaxed));
  depth_ = std::min<std::uint64_t>(turn_.depth.load(std::memory_order_relaxed), kMostInFlight);
  in_flight_bound_ = cost_limit_ = Duration::zero();
  if (promise_ != nullptr) {
    in_flight_bound_ = Duration(promise_->in_flight_ns.load(std::memory_order_relaxed));
    cost_limit_ = Duration(promise_->cost_limit_ns.load(std::memory_order_relaxed));
    gives_back_ = promise_->gives_back.load(std::memory_order_relaxed) != 0;
    sampled_ = sampling_of(promise_->sampling.load(std::memory_order_relaxed));
  }
  plan_.reset();
  if (slice_ > Duration::zero()) {
    plan_.emplace(slice_, history_, in_flight_bound_, sampled_);
    if (settings_.watch_for_theft) settings_.watch_for_theft(rested);
    unused_ = Duration::zero();
    unused_from_ = now;
  }
  issued_any_ = false;
}

/// Whether the dispatcher wants no command as long as this is predicted to be.
bool TurnMeter::too_long(sched::CommandKind kind) const {
  if (cost_limit_ == Duration::zero()) return false;
  const auto expected = history_.estimate(kind);
  return expected && *expected > cost_limit_;
}

TurnWait TurnMeter::refuses(const Offer& next) const {
  if (too_long(next.kind)) return TurnWait::slice;
  if (!contended()) {
    return !next.part || in_flight_ == 0 || (in_flight_ == 1 && next.ahead_from) ? TurnWait::nothing
                                                                                 : TurnWait::in_flight;
  }
  if (next.part ? plan_->admits_part() : plan_->admits(next.kind)) {
    return next.part || in_flight_ < in_flight_limit() ? TurnWait::nothing : TurnWait::in_flight;
  }
  // A command of an unknown kind waits, as behind a sample, until the commands under way have been measured.
  return plan_->idle() || (!plan_->sampling() && plan_->knows(next.kind)) ? TurnWait::slice
                                                                          : TurnWait::sample;
}

void TurnMeter::leave_out_pauses() {
  if (promise_ == nullptr) return;
  // Relaxed: written while this process stood still.
  const Duration paused(promise_->paused_ns.load(std::memory_order_relaxed));
  if (paused == paused_) return;
  // Everything noted so far was before the pause.
  const Duration pause = paused - std::exchange(paused_, paused);
  for (TimePoint* const moment :
       {&turn_began_, &last_completion_, &stolen_until_, &unused_from_, &run_began_, &front_began_})
    *moment += pause;
}

void TurnMeter::issued(const Offer& next, TimePoint now) {
  leave_out_pauses();
  const bool opens_interval = contended() ? !issued_any_ : in_flight_ == 0;
  if (opens_interval) turn_began_ = last_completion_ = stolen_until_ = now;
  issued_any_ = true;
  if (in_flight_ == 0) front_began_ = now;
  next_is_due_ = false;
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

void TurnMeter::ran(std::uint64_t started, std::uint64_t ended) {
  if (!contended()) return;
  EventSpan& run = run_by_events_;
  run.first = run.commands == 0 ? started : std::min(run.first, started);
  run.last = std::max(run.last, ended);
  run.commands += 1;
}

void TurnMeter::completed(std::uint64_t commands, std::uint64_t launches, TimePoint now) {
  if (commands == 0) return;
  leave_out_pauses();
  in_flight_ -= commands;
  if (!contended()) {
    const Duration each = (now - last_completion_) / static_cast<std::int64_t>(commands);
    mean_ = mean_ ? (3 * *mean_ + each) / 4 : each;
    if (sampled_ == sched::Sampling::always) {
      publish(turn_.samples, samples_ += commands);
      publish(turn_.syncs, syncs_ += commands);
    }
  }
  last_completion_ = unused_from_ = front_began_ = now;
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

void TurnMeter::close_run() {
  if (plan_->idle()) return;
  if (plan_->sampling()) publish(turn_.samples, ++samples_);
  publish(turn_.syncs, ++syncs_);
  const Duration measured = last_completion_ - run_began_;
  cross_check(measured);
  plan_->measured(measured);
}

void TurnMeter::end(TimePoint now) {
  leave_out_pauses();
  if (contended() && issued_any_) {
    charge_so_far(now);
    used_ = published_;
    if (plan_->commands() > 0) mean_ = plan_->used() / static_cast<std::int64_t>(plan_->commands());
  }
  plan_.reset();
  publish_used(used_);
}

/// The time of a command, if two of them take longer than may be in flight.
std::optional<Duration> TurnMeter::long_each() const {
  if (in_flight_bound_ == Duration::zero() || depth_ > 0) return std::nullopt;
  const auto each = contended() ? plan_->expected_each() : mean_;
  return each && kLeastInFlight * *each > in_flight_bound_ ? each : std::nullopt;
}

std::optional<TimePoint> TurnMeter::next_from() const {
  const auto each = long_each();
  if (!each || in_flight_ != 1) return std::nullopt;
  return front_began_ + *each - in_flight_bound_ / 2;
}

std::uint64_t TurnMeter::in_flight_limit() const {
  if (!next_is_due_ && long_each()) return 1;
  if (contended()) return depth_ > 0 ? std::min(depth_, plan_->most_in_flight()) : plan_->most_in_flight();
  if (sampled_ == sched::Sampling::always) return 1;
  if (depth_ > 0) return depth_;
  if (!mean_) return kLeastInFlight;
  const Duration each = std::max(*mean_, sched::CommandHistory::kShortestCommand);
  const bool bounded = in_flight_bound_ > Duration::zero() && in_flight_bound_ < settings_.slice;
  const Duration ahead = bounded ? in_flight_bound_ : settings_.slice;
  return std::clamp(static_cast<std::uint64_t>(ahead / each), kLeastInFlight, kMostInFlight);
}

bool TurnMeter::has_drained() const {
  const std::uint64_t limit = in_flight_limit();
  // By the clock a driver's queue is to be nearly full, as without FairGV: such a policy gives queued work
  // away.
  const std::uint64_t drained = depth_ > 0 ? std::max<std::uint64_t>(1, limit / 4) : (limit + 1) / 2;
  return in_flight_ + drained <= limit;
}

std::uint64_t TurnMeter::observe_every() const {
  // Half of the commands in flight have to be seen to end; in contended turns, more costs the device's own
  // threads time.
  if (contended()) return std::clamp<std::uint64_t>(in_flight_limit() / 3, 1, 64);
  return std::max<std::uint64_t>(1, in_flight_limit() / 8);
}

void TurnMeter::ran_whole(sched::CommandKind kind, Duration at_most) {
  if (contended() || bounded_ == kind) return;
  history_.bounded(kind, at_most);
  // The first launch of a kernel may have waited for its compilation: a long one is looked at again.
  if (at_most <= settings_.slice) bounded_ = kind;
}

std::optional<slicing::Slice> TurnMeter::room() const {
  if (contended()) return slicing::Slice{plan_->left(), slice_};
  // Relaxed: a hint.
  if (turn_.company.load(std::memory_order_relaxed) == 0) return std::nullopt;
  return slicing::Slice{settings_.slice, settings_.slice};
}

std::optional<Duration> TurnMeter::overrun_by_one(bool asked, TimePoint now) {
  leave_out_pauses();
  if (in_flight_ != 1) return std::nullopt;
  if (contended() ? run_commands_ != 1 : !asked) return std::nullopt;
  const Duration held = now - (contended() ? run_began_ : last_completion_);
  return held > (contended() ? slice_ : settings_.slice) ? std::optional(held) : std::nullopt;
}

/// Of a contended turn. Time that may turn out to have been stolen is not published: the dispatcher takes
/// nothing back, and a later correction might come when there is no debt left to reduce.
void TurnMeter::charge_so_far(TimePoint now) {
  const Duration unused = unused_ + (in_flight_ == 0 ? now - unused_from_ : Duration::zero());
  const Duration stolen = settings_.stolen ? settings_.stolen(unused) : Duration::zero();
  stolen_until_ = last_completion_;
  publish_used(used_ + in_turn() - std::clamp(stolen, Duration::zero(), in_turn()));
}

/// Never goes down.
void TurnMeter::publish_used(Duration used) {
  published_ = std::max(published_, used);
  publish(turn_.used_ns, static_cast<std::uint64_t>(published_.count()));
}

/// Publishes since when commands are under way whose time publish_used() does not have yet; the epoch: none
/// are.
void TurnMeter::publish_under_way(TimePoint since) {
  publish(turn_.under_way_since_ns, static_cast<std::uint64_t>(since.time_since_epoch().count()));
}

/// Only reported, never charged: a program could otherwise save the time between issuing and starting by
/// asking for timestamps.
void TurnMeter::cross_check(Duration measured) {
  const EventSpan& run = run_by_events_;
  if (run.commands == 0 || run.commands != run_commands_) return;
  publish(turn_.checked_ns, checked_ += static_cast<std::uint64_t>(measured.count()));
  publish(turn_.by_events_ns, by_events_ += run.last - std::min(run.first, run.last));
}

}  // namespace fairgv::vgpu
