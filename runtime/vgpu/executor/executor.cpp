#include "runtime/vgpu/executor/executor.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/issue/tracer.hpp"
#include "runtime/wire/call_names.hpp"

namespace fairgv::vgpu {

Executor::Executor(const ring::Segment& segment, std::span<session::DeviceTurn> turns, IssueSettings settings)
    : segment_(segment),
      settings_(std::move(settings)),
      most_at_work_(std::min(kMostPending, settings_.limits.commands / 2)),
      most_on_their_way_(segment.sizes().request_bytes / ring::kSlotBytes + kMostThreads),
      loop_(std::make_unique<Loop>(*this)),
      notices_(segment),
      events_(segment, notices_, settings_.limits.notices, settings_.tracer != nullptr),
      completions_(settings_, graph_, events_, notices_, issuers_),
      compilations_(turns) {
  const IssueShared shared{settings_, graph_, events_, completions_, completions_.retired(), in_flight_};
  for (std::size_t i = 0; i < turns.size(); ++i) {
    issuers_.push_back(std::make_unique<DeviceIssuer>(turns[i], shared, static_cast<wire::DeviceIndex>(i)));
  }
}

/// All commands have ended, but the threads that have reported it may still be here.
Executor::~Executor() {
  { const Lock lock(*this); }
  // Acquire: pairs with the release in ~Visit().
  while (visits_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

// ---- requests of the front end

Result<void> Executor::enqueue(std::shared_ptr<DeviceCommand> command, wire::EventId completion,
                               std::span<const wire::EventId> wait_list) {
  return add(command, completion, wait_list);
}

Result<void> Executor::enqueue_marker(Work work, std::shared_ptr<Lane> lane, std::int32_t error,
                                      wire::EventId completion, std::span<const wire::EventId> wait_list) {
  return add(std::make_shared<Node>(work, std::move(lane), error), completion, wait_list);
}

/// Beyond the limits a client would fill its worker's memory with commands that can never run.
Result<void> Executor::check_limits() const {
  if (graph_.pending() >= settings_.limits.commands + most_on_their_way_) {
    return Error{fmt::format("more than {} commands are pending", settings_.limits.commands)};
  }
  return {};
}

Result<void> Executor::add(const NodePtr& node, wire::EventId completion,
                           std::span<const wire::EventId> wait_list, std::span<const NodePtr> after) {
  Lock lock(*this);
  if (loop_->restores()) {
    FAIRGV_CHECK(loop_->add_again(node, !wait_list.empty()));
    was_added(lock);
    return {};
  }
  std::int32_t failed_wait = 0;
  if (auto within = check_limits(); !within) return within;
  if (auto resolved = events_.resolve(wait_list, waits_, failed_wait); !resolved) return resolved;
  if (completion) {
    if (auto added = events_.add(completion, node, loop_->request_.opcode); !added) return added;
  }
  std::copy_if(after.begin(), after.end(), std::back_inserter(waits_),
               [](const NodePtr& earlier) { return !earlier->ended(); });
  node->made_by = loop_->keep_call();
  add_to_graph(node, !wait_list.empty(), failed_wait);
  was_added(lock);
  return {};
}

Result<bool> Executor::enqueue_sequence(std::span<const std::shared_ptr<DeviceCommand>> commands,
                                        wire::EventId completion, std::span<const wire::EventId> wait_list) {
  Lock lock(*this);
  if (const std::uint32_t part = loop_->restored_part(); part != 0) {
    if (part > commands.size()) return Error{"an image with a part of a call that has fewer"};
    FAIRGV_CHECK(loop_->add_again(commands[part - 1], true));
    was_added(lock);
    return true;
  }
  FAIRGV_CHECK(check_limits());
  // Commands on their way from a front end that knows of one command still find their place.
  const std::uint64_t room =
      settings_.limits.commands - std::min(graph_.pending(), settings_.limits.commands);
  if (commands.empty() || commands.size() > room) return false;
  std::int32_t failed_wait = 0;
  FAIRGV_CHECK(events_.resolve(wait_list, waits_, failed_wait));
  if (completion) {
    FAIRGV_CHECK(events_.add(completion, commands.back(), loop_->request_.opcode));
  }
  bool named_waits = !wait_list.empty();
  const PendingCall call = loop_->keep_call();
  std::uint32_t place = 0;
  for (const auto& command : commands) {
    command->made_by = call;
    command->place_in_call = ++place;
    add_to_graph(command, std::exchange(named_waits, true), failed_wait);
    failed_wait = command->ended() ? std::min(command->status(), 0) : 0;
    if (!command->ended()) waits_.push_back(command);
  }
  waits_.clear();
  was_added(lock);
  return true;
}

/// The node waits for waits_, which are empty afterwards: they keep nothing alive.
void Executor::add_to_graph(const NodePtr& node, bool named_waits, std::int32_t failed_wait) {
  // A program can name as many events as it likes, so this is no breach: the command fails.
  if (waits_.size() > settings_.limits.waits - std::min(graph_.waits(), settings_.limits.waits)) {
    node->fail(kOutOfResources);
    waits_.clear();
  }
  graph_.add(node, waits_, named_waits, failed_wait);
  waits_.clear();
}

void Executor::was_added(Lock& lock) {
  loop_->pending_seen_ = graph_.pending();
  tell_backlog();
  if (!graph_.newly_ready().empty()) attention_.store(true, kHint);
  if (graph_.newly_ended().empty() && graph_.newly_granted().empty()) {
    if (graph_.newly_ready().empty()) {
      tell_if_program_is_waited_for();
    } else {
      completions_.collect_ready();
    }
    return;
  }
  collect(settings_.now());
  finish(lock, false);
}

Result<void> Executor::end_access(wire::EventId event) {
  Lock lock(*this);
  FAIRGV_TRY(node, events_.granted_access(event));
  graph_.end_access(*node.value());
  collect(settings_.now(), loop_->request_.told_ns);
  finish(lock, true);
  return {};
}

Result<void> Executor::create_user_event(wire::EventId event) {
  const Lock lock(*this);
  return events_.add(event, std::make_shared<Node>(Work::user), loop_->request_.opcode);
}

Result<void> Executor::set_user_event(wire::EventId event, std::int32_t status) {
  if (status > kComplete) return Error{fmt::format("user event set to {}, which is no end", status)};
  Lock lock(*this);
  FAIRGV_TRY(node, events_.unset_user_event(event));
  graph_.end_external(*node.value(), status);
  collect(settings_.now());
  finish(lock, true);
  return {};
}

Result<void> Executor::watch_event(wire::EventId event, std::int32_t status) {
  Lock lock(*this);
  auto watched = events_.watch(event, status);
  finish(lock, false);
  return watched;
}

Result<void> Executor::release_event(wire::EventId event) {
  const Lock lock(*this);
  return events_.release(event);
}

Result<NodePtr> Executor::begin_host_work(wire::EventId event) {
  auto node = std::make_shared<Node>(Work::host);
  const Lock lock(*this);
  if (loop_->is_restoring_) {
    // It may have ended, or the program has released it, or it comes later (restore()).
    if (!events_.attach(event, node)) loop_->early_.emplace_back(event, node);
    return NodePtr(node);
  }
  FAIRGV_CHECK(events_.add(event, node, loop_->request_.opcode));
  return NodePtr(node);
}

void Executor::end_host_work(Node& work, std::int32_t status) {
  Lock lock(*this);
  if (work.external()) {
    graph_.end_external(work, status);
  } else if (work.ended()) {
    return;  // the front end has ended it
  } else if (status < 0) {
    graph_.give_up_access(work, status);
  } else {
    graph_.end_access(work);
  }
  collect(settings_.now());
  finish(lock, pump_wanted());
}

bool Executor::enqueue_behind_moving(const NodePtr& node) {
  const Lock lock(*this);
  graph_.collect_moving(waits_);
  const bool any = !waits_.empty();
  if (any) graph_.add(node, waits_, true, false);
  waits_.clear();
  return any;
}

void Executor::free_promptly(bool promptly) {
  const Lock lock(*this);
  frees_promptly_ = promptly;
}

// ---- reports of drivers

void Executor::completed(DeviceCommand& command, std::int32_t status) {
  const Visit visit(*this);
  const Reports::Report report{&command, status, settings_.now()};
  Lock lock(*this, std::try_to_lock);
  if (!lock.held()) {
    if (reports_.put(report)) return take_reports();
    lock.lock();  // no memory
  }
  const bool wanted_before = take_up();
  end(report);
  ring::Doorbell& bell = segment_.header().worker_bell;
  std::optional<Helm::Held> held;
  if (completions_.pauses_briefly() && stand_in_ != nullptr && ends_all()) held = helm_.try_take();
  const bool prepared = held.has_value();
  // Before the program can see the end: the program comes back within a microsecond or two.
  if (prepared) ring::stand_in_for_sleepers(bell);
  collect(report.at);
  const bool near = next_command_is_near(report.at);
  const bool pump = wanted_before || pump_wanted();
  if (prepared && near && keeps_idle_turn() && !loop_wanted()) {
    if (pump) attention_.store(true, kHint);
    finish(lock, false);
    stand_in_->stand_in(std::move(*held));
    return;
  }
  if (prepared) {
    ring::stand_down(bell);
    helm_.let_go(std::move(*held));
  }
  // Rings that came in vain meanwhile are for the loop thread.
  finish(lock, pump || near || prepared);
}

/// Rare, and worth waiting for the lock: the driver's thread is about to wait for a turn.
void Executor::compiled(DeviceCommand& command) {
  const Visit visit(*this);
  Lock lock(*this);
  compiler_is_done();
  issuer_of(command).compiled(command);
  finish(lock, true);
}

void Executor::compiler_is_done() {
  compilations_.end(settings_.now());
  if (settings_.compiler) settings_.compiler(false);
}

void Executor::end(const Reports::Report& report) {
  DeviceCommand& command = *report.command;
  if (report.status < 0) look_at_device(command, report.status);
  if (!issuer_of(command).ended_part(command, report.status, report.at)) {
    graph_.completed(command, report.status);
  }
}

/// Before the command ends for the program, whose next one is not to go the same way.
void Executor::look_at_device(DeviceCommand& command, std::int32_t error) {
  if (settings_.failed && settings_.failed(command, error))
    issuer_of(command).rest(DeviceIssuer::Rest::device_fails);
}

bool Executor::take_up() {
  bool near = false;
  std::unique_ptr<Reports::Entry> entry = reports_.take();
  if (!entry) return false;
  for (; entry; entry = std::move(entry->next)) {
    end(entry->report);
    collect(entry->report.at);
    near = next_command_is_near(entry->report.at);
  }
  return near || pump_wanted();
}

void Executor::take_reports() {
  while (reports_.any()) {
    Lock lock(*this, std::try_to_lock);
    if (!lock.held()) return;  // its holder comes by here afterwards
    ring_after(lock, take_up());
  }
}

void Executor::reconsider() {
  Lock lock(*this);
  finish(lock, true);
}

bool Executor::ends_all() {
  if (!graph_.newly_ready().empty()) return false;
  const auto& ended = graph_.newly_ended();
  const auto issued = static_cast<std::uint64_t>(
      std::count_if(ended.begin(), ended.end(), [](const NodePtr& node) { return node->was_issued(); }));
  return in_flight_.load(kHint) == issued &&
         std::none_of(issuers_.begin(), issuers_.end(),
                      [](const auto& issuer) { return issuer->has_ready(); });
}

bool Executor::next_command_is_near(TimePoint now) {
  if (busy()) return false;
  completions_.idle_since(now);
  tell_if_program_is_waited_for();
  return completions_.pauses_briefly();
}

void Executor::collect(TimePoint now, std::uint64_t told_ns) {
  completions_.collect(now, told_ns);
  tell_backlog();
}

void Executor::compiles(bool begins) {
  const Lock lock(*this);
  if (begins) {
    compilations_.begin(settings_.now());
  } else {
    compilations_.end(settings_.now());
  }
}

void Executor::tell_backlog() {
  const bool backlogged = graph_.pending() >= settings_.limits.commands;
  if (backlogged == std::exchange(backlogged_, backlogged)) return;
  segment_.header().limits.backlogged.store(backlogged ? 1 : 0, std::memory_order_relaxed);
}

void Executor::tell_if_program_is_waited_for() {
  if (graph_.pending() == 0 || busy()) return;
  for (const auto& issuer : issuers_) issuer->tell_waits_for_program();
}

void Executor::answering(wire::Opcode opcode, std::uint64_t began_ns) {
  if (settings_.tracer == nullptr) return;
  const Lock lock(*this);
  settings_.tracer->call_ended(wire::call_name(opcode), session::TracedCall::kAnswered, began_ns,
                               nanoseconds(settings_.now()));
}

bool Executor::busy() const {
  return std::any_of(issuers_.begin(), issuers_.end(), [](const auto& issuer) { return issuer->busy(); });
}

bool Executor::keeps_idle_turn() const {
  return !busy() && std::any_of(issuers_.begin(), issuers_.end(),
                                [](const auto& issuer) { return issuer->holds_turn(); });
}

bool Executor::pump_wanted() {
  return std::any_of(issuers_.begin(), issuers_.end(),
                     [](const auto& issuer) { return issuer->wants_loop(); }) ||
         loop_wanted();
}

bool Executor::loop_wanted() const {
  const bool knock =
      std::any_of(issuers_.begin(), issuers_.end(), [](const auto& issuer) { return issuer->must_knock(); });
  const auto& retired = completions_.retired();
  const bool frees_now = frees_promptly_ || loop_->own_ > 0 || (release_noted_.load(kHint) && !busy());
  const bool free_memory = retired.size() >= kMostRetired || (frees_now && !retired.empty());
  const bool read_on = reading_paused_ && (graph_.pending() <= most_at_work_ / 4 * 3 || !busy());
  return knock || free_memory || read_on || notices_.has_backlog();
}

void Executor::finish(Lock& lock, bool wake_loop) {
  ring_after(lock, wake_loop);
  take_reports();
}

void Executor::ring_after(Lock& lock, bool wake_loop) {
  const Completions::Bells bells = completions_.take_bells();
  // Release: pairs with the acquire in Loop::needs_pump().
  if (wake_loop) attention_.store(true, std::memory_order_release);
  lock.unlock_only();
  ring::SegmentHeader& header = segment_.header();
  if (bells.completion) ring::ring(header.completion_bell);
  if (bells.notice) ring::ring(header.notice_bell);
  if (wake_loop) ring::ring(header.worker_bell);
}

}  // namespace fairgv::vgpu
