#include "cuda-shim/direct/gate.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace fairgv::cuda::direct {

using session::TurnState;

Gate::Gate(const vgpu::TurnPages& pages, const vgpu::TurnSettings& settings, Session session)
    : page_(pages.turn), session_(std::move(session)), turn_(pages, settings, session_.knock) {
  waits_.suit(session_.apart);
}

// ---- a thread with a command

CUresult Gate::wait_and_enter() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  for (;;) {
    // Before the look: a change after it is not slept over.
    const Seen seen = look();
    if (seen.closed) {
      --waiting_;
      lock.unlock();
      session_.tell_loss();
      return CUDA_ERROR_DEVICE_UNAVAILABLE;
    }
    const Time now = Clock::now();
    advance(now);
    if (phase_ == Phase::open && admit()) {
      --waiting_;
      return CUDA_SUCCESS;
    }
    if (stopped_) {  // the process ends: nothing is held back any more
      --waiting_;
      word_.fetch_add(kInside, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    }
    // The keeper looks at ends; this thread need only be there when a run may be let through.
    std::optional<Time> until;
    if ((!draining_.empty() || phase_ == Phase::sealing) && !turn_.meter().contended()) until = now + kStuck;
    wait(lock, seen, until, waits_);
  }
}

/// With the lock, nobody can shut the gate meanwhile.
bool Gate::admit() {
  const std::uint64_t before = word_.fetch_add(kInside + 1, std::memory_order_acquire);
  if ((before & kIssued) < limit_.load(std::memory_order_relaxed)) return true;
  word_.fetch_sub(kInside, std::memory_order_release);
  return false;
}

void Gate::note(const StreamUse& use) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(uses_, use) == uses_.end()) uses_.push_back(use);
}

void Gate::note_host() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::none) {
    host_pending_ = true;
  } else {
    open_.awaits_host = true;
  }
}

Mark Gate::mark_own(CUcontext context) {
  const std::lock_guard lock(mutex_);
  const Mark mark = pool_.put({context, CU_STREAM_PER_THREAD});
  if (mark.event != nullptr) open_.marks.push_back(mark);
  return mark;
}

void Gate::before_stream_goes(const StreamUse& use) {
  const std::lock_guard lock(mutex_);
  if (std::erase(uses_, use) == 0) return;
  const Mark mark = pool_.put(use);
  if (mark.event != nullptr) open_.marks.push_back(mark);
}

void Gate::before_context_goes(CUcontext context) {
  const std::lock_guard lock(mutex_);
  const auto of_it = [context](const auto& each) { return each.context == context; };
  std::erase_if(uses_, of_it);
  std::erase_if(open_.marks, of_it);
  for (Run& run : draining_) std::erase_if(run.marks, of_it);
  pool_.forget(context);
}

bool Gate::frees() {
  const std::lock_guard lock(mutex_);
  return !open_.at_end.empty() ||
         std::ranges::any_of(draining_, [](const Run& run) { return !run.at_end.empty(); });
}

void Gate::after_what_runs(std::function<void()> function) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::none) {
      open_.at_end.push_back(std::move(function));
      return;
    }
    if (!draining_.empty()) {
      draining_.back().at_end.push_back(std::move(function));
      return;
    }
  }
  function();
}

// ---- the turn

vgpu::Offer Gate::offer() const {
  // Runs of about the same window take about the same time.
  return vgpu::Offer(static_cast<sched::CommandKind>(std::bit_width(window_)));
}

Gate::Duration Gate::target() const {
  const Duration slice = turn_.meter().slice();
  if (!turn_.meter().contended() || slice == Duration::zero()) return kRunTime;
  return std::clamp<Duration>(slice / kRunsPerSlice, kShortestRun, kRunTime);
}

/// Everything that can be done now.
void Gate::advance(Time now) {
  if (stopped_) return;
  collect(now);
  if (phase_ == Phase::open) {
    const bool full =
        (word_.load(std::memory_order_relaxed) & kIssued) >= limit_.load(std::memory_order_relaxed);
    const bool asked = page_.state.load(std::memory_order_relaxed) != kBusy;
    if ((full && waiting_ > 0) || asked || closed() || pauses(now)) shut(now);
  }
  if (phase_ == Phase::sealing && waiting_ > 0 && is_alone() && inside() != 0 && now - shut_at_ >= kStuck)
    open_again();
  if (phase_ == Phase::sealing && inside() == 0) {
    put_marks();
    collect(now);  // often at once: the program has waited for its commands by itself
  }
  if (phase_ != Phase::none || closed()) return;
  const vgpu::Next next = waiting_ > 0 ? vgpu::Next(offer()) : vgpu::Next();
  const bool may = turn_.may_issue(next, now).count > 0 && draining_.size() < kMostRuns;
  if (next && ((may && turn_.admits(*next)) || may_exceed(now))) {
    open_run(*next, now);
  } else {
    turn_.settle(next, now);
  }
}

void Gate::open_run(const vgpu::Offer& offer, Time now) {
  if (draining_.size() >= kMostRuns) window_ = std::min(2 * window_, kLongestWindow);
  turn_.issued(offer, 0, now);
  open_ = {.began = now, .window = window_, .awaits_host = std::exchange(host_pending_, false)};
  uses_.clear();
  others_.store(0, std::memory_order_relaxed);
  limit_.store(window_, std::memory_order_relaxed);
  run_number_.fetch_add(1, std::memory_order_relaxed);
  withdrawn_.store(0, std::memory_order_relaxed);
  issued_seen_ = 0;
  issued_changed_ = now;
  phase_ = Phase::open;
  open_word(0);
}

bool Gate::is_alone() const {
  return page_.state.load(std::memory_order_relaxed) == kBusy && !turn_.meter().contended();
}

void Gate::shut(Time now) {
  phase_ = Phase::sealing;
  shut_at_ = now;
  // Both in one step: a thread that leaves later sees that it is waited for, and one that comes later is not
  // counted.
  const std::uint64_t before = word_.fetch_xor(kOpen | kSealing, std::memory_order_acq_rel);
  // Beyond the limit nobody was admitted.
  issued_ = std::min(before & kIssued, limit_.load(std::memory_order_relaxed));
}

/// A thread inside may wait in the driver for what another thread has yet to launch.
void Gate::open_again() {
  window_ = std::min(2 * window_, kLongestWindow);
  limit_.store(issued_ + window_, std::memory_order_relaxed);
  phase_ = Phase::open;
  open_word(issued_);
}

/// In one step with the count, so that tries at the shut gate are not in it.
void Gate::open_word(std::uint64_t issued) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  // Release: pairs with the acquire of enter().
  while (!word_.compare_exchange_weak(word, (word & kInsideMask) | kOpen | issued, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  change();
}

void Gate::put_marks() {
  word_.fetch_and(~kSealing, std::memory_order_acquire);
  open_.commands = issued_ - std::min(issued_, withdrawn_.load(std::memory_order_relaxed));
  open_.launches = open_.commands - std::min(open_.commands, others_.load(std::memory_order_relaxed));
  for (const StreamUse& use : uses_) {
    const Mark mark = pool_.put(use);
    if (mark.event != nullptr) open_.marks.push_back(mark);
  }
  if (draining_.empty()) last_end_ = std::max(last_end_, open_.began);
  draining_.push_back(std::move(open_));
  open_ = {};
  uses_.clear();
  phase_ = Phase::none;
}

void Gate::collect(Time now) {
  while (!draining_.empty()) {
    Run& run = draining_.front();
    while (!run.marks.empty() && MarkPool::has_passed(run.marks.back())) {
      pool_.take_back(run.marks.back());
      run.marks.pop_back();
    }
    if (!run.marks.empty()) return;
    const Run ended = std::move(run);
    draining_.pop_front();
    const Duration took = now - std::max(ended.began, std::exchange(last_end_, now));
    turn_.completed(1, std::min<std::uint64_t>(1, ended.launches), now);
    // The run was one command so far. One without any, whose threads have all withdrawn, takes that back.
    turn_.meter().count(0, 0, ended.commands - 1,
                        ended.launches - std::min<std::uint64_t>(1, ended.launches));
    adapt(ended, took);
    for (const auto& function : ended.at_end) function();
    change();
  }
}

void Gate::adapt(const Run& run, Duration took) {
  // A run that has waited for host code says nothing of the device.
  if (run.commands == 0 || run.awaits_host) return;
  expected_ = took;
  const bool was_full = run.commands >= run.window;
  if (!was_full && took <= target()) return;
  const Duration each = std::max<Duration>(took / static_cast<std::int64_t>(run.commands), Duration(1));
  const auto fitting = static_cast<std::uint64_t>(target() / each);
  window_ = std::clamp<std::uint64_t>(fitting, 1, std::min(2 * run.window, kLongestWindow));
}

/// Whether the program has given nothing for a while, and no command of it is on its way.
bool Gate::pauses(Time now) {
  const std::uint64_t word = word_.load(std::memory_order_acquire);
  if ((word & kIssued) != issued_seen_ || (word & kInsideMask) != 0) {
    issued_seen_ = word & kIssued;
    issued_changed_ = now;
    return false;
  }
  return now - issued_changed_ >= (turn_.meter().contended() ? kPauseContended : kPauseAlone);
}

bool Gate::may_exceed(Time now) const {
  if (!is_alone() || draining_.empty()) return false;
  if (std::ranges::any_of(draining_, &Run::awaits_host)) return true;
  return now - last_end_ >= std::max<Duration>(kStuck, kStuckTimes * expected_) &&
         now - draining_.back().began >= kStuck;
}

// ---- the keeper

std::optional<Gate::Time> Gate::deadline(Time now) const {
  if (closed()) return std::nullopt;
  std::optional<Time> first;
  const auto earlier = [&first](Time at) { first = first ? std::min(*first, at) : at; };
  const bool contended = turn_.meter().contended();
  if (phase_ == Phase::open) earlier(now + (contended ? kPauseContended : kPauseAlone));
  if (!draining_.empty()) {
    const Time expected = std::max(last_end_, draining_.front().began) + expected_;
    const Duration overdue = std::max<Duration>(now - expected, Duration::zero());
    const Duration look = std::clamp<Duration>(overdue / kOverduePart, kLookAgain, kLookSeldom);
    earlier(std::max(now + look, std::min(expected, now + kRunTime)));
  }
  if (phase_ == Phase::none && turn_.lingers_until()) earlier(*turn_.lingers_until());
  return first;
}

void Gate::keep() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const Seen seen = look();
    const Time now = Clock::now();
    advance(now);
    if (closed() && phase_ == Phase::none && draining_.empty()) return;
    wait(lock, seen, deadline(now), keeps_);
  }
}

Gate::Seen Gate::look() const {
  return {changes_.load(std::memory_order_acquire), closed()};
}

void Gate::wait(std::unique_lock<std::mutex>& lock, const Seen& seen, const std::optional<Time>& until,
                ring::SpinBudget& budget) {
  // While threads are inside, nothing can be done about a turn that is asked back.
  const bool heeds_turn = phase_ != Phase::sealing;
  lock.unlock();
  ring::wait(
      session_.header.worker_bell, budget,
      [&] {
        return changes_.load(std::memory_order_acquire) != seen.changes || (heeds_turn && turn_.changed()) ||
               closed() != seen.closed;
      },
      until);
  lock.lock();
}

void Gate::change() {
  // Release: pairs with the acquire in the waits.
  changes_.fetch_add(1, std::memory_order_release);
  ring::ring(session_.header.worker_bell);
}

void Gate::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  change();
}

}  // namespace fairgv::cuda::direct
