#include "runtime/vgpu/worker.hpp"

#include <fmt/core.h>

#include <cstring>
#include <utility>

namespace fairgv::vgpu {

Worker::Worker(ring::Segment& segment, Executor& executor, CallHandler& calls, Processors commands_run_on)
    : segment_(segment),
      executor_(executor),
      calls_(calls),
      device_first_(commands_run_on == Processors::the_devices_own),
      requests_(segment.requests()),
      replies_(
          segment, [this] { loop_->pump(); },
          [&executor](wire::Opcode opcode, std::uint64_t began_ns) { executor.answering(opcode, began_ns); }),
      scratch_(512) {
  const bool apart = commands_run_on != Processors::our_cpus;
  budget_at_work_.suit(apart);
  if (apart) budget_.extend(Executor::kBriefPause);
}

Result<void> Worker::run() {
  Helm::Held held = take_helm();
  while (!segment_.closed()) {
    to_loop_ = false;
    if (run_tasks() && segment_.closed()) break;
    saturated_ = loop_->saturated();
    if (!saturated_ && !broken_) {
      if (auto read = read_calls(); !read) broken_ = read.error();
    }
    if (broken_) {
      segment_.close();
      return *broken_;
    }
    if (loop_->needs_pump() || deadline_passed()) {
      loop_->issue();
      ++frees_due_;
    }
    if (frees_due_ > 0) free_if_there_is_time();
    held = wait(std::move(held));
  }
  return {};  // with the helm: no other thread stands in any more
}

void Worker::run_between_calls(std::function<void()> task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
    has_tasks_.store(true, std::memory_order_relaxed);
  }
  ring::ring(segment_.header().worker_bell);
}

/// Whether there was one: it may have taken long.
bool Worker::run_tasks() {
  if (!has_tasks_.load(std::memory_order_relaxed)) return false;
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks.swap(tasks_);
    has_tasks_.store(false, std::memory_order_relaxed);
  }
  for (const auto& task : tasks) task();
  return true;
}

bool Worker::come_to_rest(const std::function<bool()>& others_rest, const std::function<bool()>& given_up) {
  /// Builds and parts of launches end without ringing.
  constexpr std::chrono::milliseconds kLookAgain{1};
  loop_->rest(true);
  while (!segment_.closed() && !given_up()) {
    loop_->pump();
    if (loop_->at_rest() && others_rest()) return true;
    ring::wait(
        segment_.header().worker_bell, budget_,
        [this] { return loop_->needs_pump() || deadline_passed() || segment_.closed(); },
        std::chrono::steady_clock::now() + kLookAgain);
  }
  return false;
}

void Worker::end_rest() {
  loop_->rest(false);
}

void Worker::free_if_there_is_time() {
  if (device_first_ && frees_due_ < kMostFreesDue && (ready() || comes_back())) {
    ++frees_due_;
    return;
  }
  loop_->free_retired();
  frees_due_ = 0;
}

bool Worker::comes_back() {
  if (budget_.current() == std::chrono::nanoseconds::zero()) return false;
  const auto something = [this] { return ready(); };
  const auto until = std::chrono::steady_clock::now() + ring::SpinBudget::kLongestShared;
  do {
    if (ring::detail::spin_briefly(something)) return true;
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

void Worker::stand_in(Helm::Held held) {
  loop_ = &executor_.at(held);
  serve_briefly();
  ring::Doorbell& bell = segment_.header().worker_bell;
  ring::stand_down(bell);
  // Only now: from here on the loop thread is woken for new calls.
  to_loop_ = ready() || loop_->deadline().at != TimePoint::max();
  const bool to_loop = to_loop_;
  if (executor_.helm().let_go(std::move(held)) || to_loop) ring::ring(bell);
}

void Worker::serve_briefly() {
  if (saturated_ || to_loop_ || broken_) return;
  const auto something = [this] { return ready(); };
  auto now = std::chrono::steady_clock::now();
  const auto until = now + Executor::kBriefPause;
  for (bool idle = true; !segment_.closed(); now = std::chrono::steady_clock::now()) {
    if (requests_.has_record()) {
      if (!next_is_brief()) return;
      if (auto read = read_calls(Reads::brief_calls); !read) {
        broken_ = read.error();
        return;
      }
    }
    const bool was_idle = idle;
    if (loop_->needs_pump() || now >= loop_->deadline().at) {
      loop_->issue();
      idle = loop_->idles_in_turn();
    }
    // Calls that a program sends right behind a command, such as the marker to wait for, are there by now;
    // but the device is not to wait for everything that the program may send.
    if (requests_.has_record() && was_idle) continue;
    if (!idle || now >= until) return;
    if (!ring::detail::spin_briefly(something)) ring::detail::give_way();
  }
}

Result<void> Worker::read_calls(Reads which) {
  ring::RecordHeader header;
  std::span<const std::byte> payload;
  int handled = 0;
  for (; handled < kCallsPerRound && !(device_first_ && loop_->feeds_first()); ++handled) {
    const auto next = requests_.peek(header, payload);
    if (next == ring::RingConsumer::Next::empty) break;
    if (next == ring::RingConsumer::Next::corrupt) return Error{"the request ring is corrupt"};
    if (which == Reads::brief_calls && !calls_.is_brief(header.opcode)) break;
    if (auto done = handle(header, payload); !done) return done;
    // Not earlier: the arena ranges that a call names are the front end's again when it is consumed.
    requests_.pop();
  }
  // The front end may wait for room in the ring.
  if (handled != 0) ring::ring(segment_.header().reply_bell);
  return {};
}

bool Worker::next_is_brief() {
  ring::RecordHeader header;
  std::span<const std::byte> payload;
  return requests_.peek(header, payload) == ring::RingConsumer::Next::record &&
         calls_.is_brief(header.opcode);
}

Result<void> Worker::handle(const ring::RecordHeader& header, std::span<const std::byte> payload) {
  const auto copy = scratch(payload.size());
  if (!payload.empty()) std::memcpy(copy.data(), payload.data(), payload.size());
  if ((header.opcode & wire::kIndirectBit) != 0) return handle_indirect(header);
  return handle_copy(header, copy);
}

Result<void> Worker::handle_copy(const ring::RecordHeader& header, std::span<const std::byte> call) {
  const auto opcode = static_cast<wire::Opcode>(header.opcode & ~wire::kIndirectBit);
  loop_->reading({header.cpu, opcode, wire::time_of(header.tag), next_number_++, call});
  return calls_.handle_call(*loop_, replies_, opcode, call, header.tag);
}

Result<void> Worker::handle_indirect(const ring::RecordHeader& header) {
  wire::Indirect indirect;
  if (!wire::decode(scratch(header.bytes), indirect)) return Error{"malformed Indirect record"};
  const auto [offset, bytes] = indirect.message;
  const auto arena = segment_.arena();
  if (offset > arena.size() || bytes > arena.size() - offset || bytes > kLongestIndirect) {
    return Error{
        fmt::format("a message of {} bytes at {} does not lie in the arena or is too long", bytes, offset)};
  }
  const auto copy = scratch(bytes);
  if (bytes != 0) std::memcpy(copy.data(), arena.data() + offset, bytes);
  auto done = handle_copy(header, copy);
  if (scratch_.size() * sizeof(std::uint64_t) > segment_.sizes().request_bytes) {
    scratch_ = std::vector<std::uint64_t>(512);
  }
  return done;
}

bool Worker::deadline_passed() const {
  const TimePoint at = loop_->deadline().at;
  return at != TimePoint::max() && std::chrono::steady_clock::now() >= at;
}

bool Worker::ready() const {
  return (!saturated_ && requests_.has_record()) || loop_->needs_pump() || segment_.closed() || broken_ ||
         to_loop_ || has_tasks_.load(std::memory_order_relaxed);
}

Helm::Held Worker::wait(Helm::Held held) {
  if (ready()) return held;
  const auto deadline = loop_->deadline();
  if (deadline.awake) {
    // A turn is being kept for the next command: microseconds, too short to sleep.
    const auto something = [this] { return ready(); };
    while (!ready() && std::chrono::steady_clock::now() < deadline.at) {
      if (!ring::detail::spin_briefly(something)) ring::detail::give_way();
    }
    return held;
  }
  std::optional<TimePoint> until;
  if (deadline.at != TimePoint::max()) until = deadline.at;
  ring::SpinBudget& budget = executor_.in_flight() ? budget_at_work_ : budget_;
  Helm& helm = executor_.helm();
  std::optional<Helm::Held> again;
  const auto take_if_ready = [this, &helm, &again] {
    again = helm.take_or_want();
    if (!again) return false;
    loop_ = &executor_.at(*again);
    if (ready()) return true;
    helm.let_go(std::move(*again));  // no other thread waits for it
    return false;
  };
  helm.let_go(std::move(held));
  if (!ring::wait(segment_.header().worker_bell, budget, take_if_ready, until)) return take_helm();
  return std::move(*again);
}

Helm::Held Worker::take_helm() {
  std::optional<Helm::Held> held;
  ring::wait(segment_.header().worker_bell, budget_, [this, &held] {
    held = executor_.helm().take_or_want();
    return held.has_value();
  });
  loop_ = &executor_.at(*held);
  return std::move(*held);
}

std::span<std::byte> Worker::scratch(std::size_t bytes) {
  const std::size_t words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  if (words > scratch_.size()) scratch_.resize(words);
  return {reinterpret_cast<std::byte*>(scratch_.data()), bytes};
}

}  // namespace fairgv::vgpu
