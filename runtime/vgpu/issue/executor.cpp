#include "runtime/vgpu/issue/executor.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "runtime/wire/call_names.hpp"

namespace fairgv::vgpu {
namespace {

/// How soon to try again what could not knock, or found a full notice ring: rare, and nobody rings when there
/// is room.
constexpr auto kRetry = std::chrono::milliseconds(1);

std::uint64_t nanoseconds(TimePoint at) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(at.time_since_epoch()).count());
}

constexpr auto kHint = std::memory_order_relaxed;  // for what is looked at again with the lock held

}  // namespace

Executor::Executor(const ring::Segment& segment, std::span<session::DeviceTurn> turns, Settings settings)
    : segment_(segment),
      settings_(std::move(settings)),
      most_at_work_(std::min(kMostPending, settings_.limits.commands / 2)),
      most_on_their_way_(segment.sizes().request_bytes / ring::kSlotBytes + kMostThreads),
      notices_(segment),
      events_(segment, notices_, settings_.limits.notices, settings_.tracer != nullptr) {
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto index = static_cast<wire::DeviceIndex>(i);
    const auto knock = [this, index] { devices_[index]->knock_again = !settings_.knock(index); };
    devices_.push_back(std::make_unique<Device>(turns[i], settings_, knock));
  }
}

// ---- what the front end asks for

Result<void> Executor::enqueue(std::shared_ptr<DeviceCommand> command, wire::EventId completion,
                               std::span<const wire::EventId> wait_list) {
  return add(command, completion, wait_list);
}

Result<void> Executor::enqueue_marker(Work work, std::shared_ptr<Lane> lane, std::int32_t error,
                                      wire::EventId completion, std::span<const wire::EventId> wait_list) {
  return add(std::make_shared<Node>(work, std::move(lane), error), completion, wait_list);
}

/// Beyond them a client fills its worker's memory with what can never be done.
Result<void> Executor::check_limits() const {
  if (graph_.pending() >= settings_.limits.commands + most_on_their_way_) {
    return Error{fmt::format("more than {} commands are pending", settings_.limits.commands)};
  }
  return {};
}

Result<void> Executor::add(const NodePtr& node, wire::EventId completion,
                           std::span<const wire::EventId> wait_list, std::span<const NodePtr> after) {
  Lock lock(*this);
  std::int32_t failed_wait = 0;
  if (auto within = check_limits(); !within) return within;
  if (auto resolved = events_.resolve(wait_list, waits_, failed_wait); !resolved) return resolved;
  if (completion) {
    if (auto added = events_.add(completion, node, request_.opcode); !added) return added;
  }
  std::copy_if(after.begin(), after.end(), std::back_inserter(waits_),
               [](const NodePtr& earlier) { return !earlier->ended(); });
  add_to_graph(node, !wait_list.empty(), failed_wait);
  was_added(lock);
  return {};
}

Result<bool> Executor::enqueue_sequence(std::span<const std::shared_ptr<DeviceCommand>> commands,
                                        wire::EventId completion, std::span<const wire::EventId> wait_list) {
  Lock lock(*this);
  if (auto within = check_limits(); !within) return within.error();
  // Commands on their way from a front end that knows of one command still find their place.
  const std::uint64_t room =
      settings_.limits.commands - std::min(graph_.pending(), settings_.limits.commands);
  if (commands.empty() || commands.size() > room) return false;
  std::int32_t failed_wait = 0;
  if (auto resolved = events_.resolve(wait_list, waits_, failed_wait); !resolved) return resolved.error();
  if (completion) {
    if (auto added = events_.add(completion, commands.back(), request_.opcode); !added) return added.error();
  }
  bool named_waits = !wait_list.empty();
  for (const auto& command : commands) {
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
  // A program can name as many events as it likes, so this is no breach: what cannot be kept fails.
  if (waits_.size() > settings_.limits.waits - std::min(graph_.waits(), settings_.limits.waits)) {
    node->fail(kOutOfResources);
    waits_.clear();
  }
  graph_.add(node, waits_, named_waits, failed_wait);
  waits_.clear();
}

void Executor::was_added(Lock& lock) {
  pending_seen_ = graph_.pending();
  tell_backlog();
  if (!graph_.newly_ready().empty()) attention_.store(true, kHint);
  if (graph_.newly_ended().empty() && graph_.newly_granted().empty()) {
    collect_ready();
    return;
  }
  collect(settings_.now());
  finish(lock, false);
}

Result<void> Executor::end_access(wire::EventId event) {
  Lock lock(*this);
  auto node = events_.granted_access(event);
  if (!node) return node.error();
  graph_.end_access(*node.value());
  collect(settings_.now());
  finish(lock, true);
  return {};
}

Result<void> Executor::create_user_event(wire::EventId event) {
  const Lock lock(*this);
  return events_.add(event, std::make_shared<Node>(Work::user), request_.opcode);
}

Result<void> Executor::set_user_event(wire::EventId event, std::int32_t status) {
  if (status > kComplete) return Error{fmt::format("user event set to {}, which is no end", status)};
  Lock lock(*this);
  auto node = events_.unset_user_event(event);
  if (!node) return node.error();
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
  if (auto added = events_.add(event, node, request_.opcode); !added) return added.error();
  return NodePtr(node);
}

void Executor::end_host_work(Node& work, std::int32_t status) {
  Lock lock(*this);
  graph_.end_external(work, status);
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

// ---- issuing

void Executor::pump() {
  issue();
  free_retired();
}

void Executor::issue() {
  attention_.store(false, kHint);  // what follows sees everything that was done before, by the lock
  pending_at_issue_ = pending_seen_;
  for (const auto& device : devices_) pump(*device);
}

bool Executor::idles_in_turn() {
  const Lock lock(*this);
  return keeps_idle_turn();
}

void Executor::pump(Device& device) {
  Lock lock(*this);
  if (std::exchange(device.knock_again, false)) {
    const auto index = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const auto& candidate) { return candidate.get() == &device; });
    device.knock_again = !settings_.knock(static_cast<wire::DeviceIndex>(index - devices_.begin()));
  }
  notices_.flush();
  for (;;) {
    prepare_slicing(device, lock);
    compile_first(device, lock);
    const TimePoint now = settings_.now();
    const TurnKeeper::Next next = next_work(device);
    const std::uint64_t allowed = device.keeper.may_issue(next, now);
    if (device.slicer.has_to_prepare() || device.compile_next) continue;
    if (!next || allowed == 0) {
      device.ahead_from = next ? next->ahead_from : std::nullopt;
      device.keeper.settle(next, now);
      update_deadline(now);
      break;
    }
    // Not `now`: the turn may have been granted since then, and nothing is issued before its turn.
    pick(device, allowed, settings_.now());
    finish(lock, false);
    hand_over();
    lock.lock();
  }
  finish(lock, false);
}

void Executor::prepare_slicing(Device& device, Lock& lock) {
  SliceableLaunch* const launch = device.slicer.take_to_prepare();
  if (launch == nullptr) return;
  lock.unlock();
  launch->prepare();  // only this thread could end it meanwhile: it has not been issued
  lock.lock();
}

/// Nothing is in flight on the device, so that all that the command depends on has ended.
void Executor::compile_first(Device& device, Lock& lock) {
  if (!std::exchange(device.compile_next, false)) return;
  const std::shared_ptr<DeviceCommand> command = device.ready.front();
  command->cut = device.compile_in_parts;
  if (command->cut) {
    events_.progressed(*command, kSubmitted);
    device.slicer.begin_part(*command, settings_.now());
  } else {
    device.ready.pop_front();
  }
  device.compiling = command;
  in_flight_.fetch_add(1, kHint);
  tell_compiling(true);
  if (settings_.compiler) settings_.compiler(true);
  lock.unlock();
  const std::int32_t error = command->compile(*this);
  lock.lock();
  if (error == 0) return;
  if (settings_.compiler) settings_.compiler(false);
  // issue() is going to say why.
  device.compiling.reset();
  in_flight_.fetch_sub(1, kHint);
  tell_compiling(false);
  if (!command->cut) return device.ready.push_front(command);
  device.slicer.finish();
  command->cut = false;
  command->sliceable()->give_up();
}

void Executor::pick(Device& device, std::uint64_t allowed, TimePoint now) {
  while (batch_.size() < std::min<std::uint64_t>(allowed, kBatch)) {
    const TurnKeeper::Next next = next_work(device);
    if (!next || !device.keeper.admits(*next)) break;
    if (next->part) {
      if (batch_.empty()) pick_part(device, *next, now);
      break;
    }
    std::shared_ptr<DeviceCommand> command = std::move(device.ready.front());
    device.ready.pop_front();
    if (device.compiled == command.get()) device.compiled = nullptr;
    command->issued_at = now;
    device.keeper.issued(*next, request_.cpu, now);
    events_.progressed(*command, kSubmitted);
    graph_.issued(*command);
    collect_ready();
    batch_.push_back(std::move(command));
  }
  in_flight_.fetch_add(batch_.size(), kHint);
  choose_observed(device.keeper.observe_every());
}

/// The command stays where it is until its last part has ended.
void Executor::pick_part(Device& device, const TurnKeeper::Offer& offer, TimePoint now) {
  const std::shared_ptr<DeviceCommand>& command = device.ready.front();
  if (device.compiled == command.get()) {
    device.compiled = nullptr;
    device.slicer.run_part_from(now);
  } else {
    if (!device.slicer.is_under_way(*command)) events_.progressed(*command, kSubmitted);
    device.slicer.begin_part(*command, now);
  }
  command->cut = true;
  device.keeper.issued(offer, request_.cpu, now);
  batch_.push_back(command);
}

void Executor::choose_observed(std::uint64_t every) {
  std::array<const Lane*, kBatch> lanes{};  // whose last command of the batch has been seen
  std::size_t lane_count = 0;
  for (std::size_t i = batch_.size(); i-- > 0;) {
    DeviceCommand& command = *batch_[i];
    const auto seen = std::span(lanes).first(lane_count);
    const bool last_of_lane = std::find(seen.begin(), seen.end(), command.lane()) == seen.end();
    if (last_of_lane) lanes.at(lane_count++) = command.lane();
    command.observed = command.event || !command.lane()->in_order() || last_of_lane || i % every == 0;
  }
}

std::int32_t Executor::wait_refused(const DeviceCommand& command, const Node& refused) {
  const std::int32_t error = static_cast<const DeviceCommand&>(refused).issue_error;
  const std::int32_t end = command.lane()->after_failed_wait(error);
  return end != 0 ? end : kWaitListFailed;
}

void Executor::hand_over() {
  for (const auto& command : batch_) {
    const auto waits = command->driver_waits();
    // A dependency that was picked with this command may just have been refused.
    const auto refused = std::find_if(waits.begin(), waits.end(), [](const NodePtr& wait) {
      return static_cast<const DeviceCommand&>(*wait).issue_error != 0;
    });
    // The driver cannot be told to wait for what it has not got, whatever it would make of a failure.
    command->issue_error = refused == waits.end() ? command->issue() : wait_refused(*command, **refused);
    if (command->issue_error != 0) {
      refuse(*command);
    } else if (command->observed) {
      command->watch(*this);
    }
  }
  // Not before the batch is complete: a driver may begin with the flush.
  for (const auto& command : batch_) {
    if (command->observed && command->issue_error == 0) command->flush();
  }
  batch_.clear();
}

void Executor::refuse(DeviceCommand& command) {
  Lock lock(*this);
  if (refuse_part(*devices_[command.lane()->device()], command)) return finish(lock, false);
  const NodePtr uncovered = graph_.refused(command, command.issue_error);
  collect(settings_.now());
  finish(lock, false);
  if (uncovered) static_cast<DeviceCommand&>(*uncovered).watch(*this);
}

void Executor::free_retired() {
  {
    const Lock lock(*this);
    dying_.swap(retired_);
    // What still waits for something may hold the released object.
    if (!busy() && graph_.pending() == 0) release_noted_.store(false, kHint);
  }
  dying_.clear();
}

bool Executor::saturated() {
  if (pending_seen_ <= most_at_work_) return false;
  const Lock lock(*this);
  pending_seen_ = graph_.pending();
  reading_paused_ = pending_seen_ > most_at_work_ && busy();
  return reading_paused_;
}

void Executor::update_deadline(TimePoint now) {
  deadline_ = {};
  if (notices_.has_backlog()) deadline_.at = now + kRetry;
  for (const auto& device : devices_) {
    if (device->knock_again) deadline_.at = std::min(deadline_.at, now + kRetry);
    // However long that is: a sleeper would be woken by the grant and be late for it.
    if (const auto until = device->keeper.due_until(); until > now && *until < deadline_.at) {
      deadline_ = {*until, true};
    }
    // Only what is still to come: later it was not issued because it must not.
    if (device->ahead_from > now) deadline_.at = std::min(deadline_.at, *device->ahead_from);
    if (const auto until = device->keeper.lingers_until(); until && *until < deadline_.at) {
      deadline_ = {*until, *until - now <= kWorthSpinning};
    }
  }
}

// ---- what drivers report

void Executor::completed(DeviceCommand& command, std::int32_t status) {
  const Reports::Report report{&command, status, settings_.now()};
  Lock lock(*this, std::try_to_lock);
  if (!lock.held()) {
    if (reports_.put(report)) return take_reports();
    lock.lock();  // no memory
  }
  const bool wanted_before = take_up();
  end(report);
  ring::Doorbell& bell = segment_.header().worker_bell;
  const bool prepared = pauses_briefly_ && stand_in_ != nullptr && ends_all() && helm_.try_take();
  // Before the program can see the end: it comes back within a microsecond or two.
  if (prepared) ring::stand_in_for_sleepers(bell);
  collect(report.at);
  const bool near = next_command_is_near(report.at);
  const bool pump = wanted_before || pump_wanted();
  if (prepared && near && keeps_idle_turn() && !loop_wanted()) {
    if (pump) attention_.store(true, kHint);
    finish(lock, false);
    stand_in_->stand_in();
    return;
  }
  if (prepared) {
    ring::stand_down(bell);
    helm_.let_go();
  }
  // What was rung for in vain meanwhile is the loop thread's.
  finish(lock, pump || near || prepared);
}

/// Rare, and worth waiting for the lock: the driver's thread is about to wait for a turn.
void Executor::compiled(DeviceCommand& command) {
  Lock lock(*this);
  Device& device = *devices_[command.lane()->device()];
  in_flight_.fetch_sub(1, kHint);
  tell_compiling(false);
  if (settings_.compiler) settings_.compiler(false);
  device.compiled = &command;
  if (!command.cut) device.ready.push_front(device.compiling);
  device.compiling.reset();
  finish(lock, true);
}

void Executor::end(const Reports::Report& report) {
  DeviceCommand& command = *report.command;
  if (Device& device = *devices_[command.lane()->device()]; device.slicer.is_under_way(command)) {
    end_part(device, command, report.status, report.at);
  } else {
    graph_.completed(command, report.status);
  }
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
    if (!lock.held()) return;  // who has it comes by here afterwards
    ring_after(lock, take_up());
  }
}

/// The launch counts as issued and ended with its last part, or when one has failed.
void Executor::end_part(Device& device, DeviceCommand& command, std::int32_t status, TimePoint now) {
  device.keeper.ended_part();
  if (settings_.tracer != nullptr) settings_.tracer->part_ended(command, device.slicer.oldest_part(), now);
  const auto ended_with = device.slicer.end_part(status, now);
  if (!ended_with) {
    in_flight_.fetch_sub(1, kHint);
    device.keeper.completed(1, 0, now);
    device.keeper.settle(next_work(device), now);
    return;
  }
  const Duration used = device.slicer.finish();
  if (*ended_with >= 0) device.keeper.ran_in_parts(command.kind(), used);
  const std::shared_ptr<DeviceCommand> ended = std::move(device.ready.front());
  device.ready.pop_front();
  graph_.issued(*ended);
  graph_.completed(*ended, *ended_with);
}

/// The driver did not take a part: whether that is what it refused. The launch runs whole instead; one that
/// has begun in parts ends with the error.
bool Executor::refuse_part(Device& device, DeviceCommand& command) {
  if (!device.slicer.is_under_way(command)) return false;
  const TimePoint now = settings_.now();
  const std::int32_t error = std::exchange(command.issue_error, 0);
  if (!device.slicer.runs_whole_after_refusal()) {
    end_part(device, command, error, now);
    collect(now);
    return true;
  }
  device.slicer.finish();
  command.cut = false;
  command.sliceable()->give_up();
  in_flight_.fetch_sub(1, kHint);
  device.keeper.completed(1, 0, now);
  return true;
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
         std::all_of(devices_.begin(), devices_.end(),
                     [](const auto& device) { return device->ready.empty(); });
}

bool Executor::next_command_is_near(TimePoint now) {
  if (busy()) return false;
  idle_since_ = now;
  return pauses_briefly_;
}

void Executor::collect(TimePoint now) {
  collect_ready();
  collect_ended(now);
  // After the ends: who is granted an access may look at once for what has ended before it.
  collect_granted();
  if (!events_.ended_waits().empty()) record_waits(now);
}

void Executor::collect_granted() {
  for (const NodePtr& node : graph_.newly_granted()) events_.progressed(*node, kRunning);
  graph_.newly_granted().clear();
}

void Executor::collect_ready() {
  if (graph_.newly_ready().empty()) return;
  // Not when it is issued: that may be after other tenants' turns.
  if (const auto since = std::exchange(idle_since_, std::nullopt)) {
    pauses_briefly_ = settings_.now() - *since <= kBriefPause;
  }
  for (NodePtr& node : graph_.newly_ready()) {
    Device& device = *devices_[node->lane()->device()];
    device.ready.push_back(std::static_pointer_cast<DeviceCommand>(std::move(node)));
  }
  graph_.newly_ready().clear();
}

void Executor::collect_ended(TimePoint now) {
  Device* device = nullptr;  // what ends at once on the device ends in one lane
  std::uint64_t commands = 0;
  std::uint64_t launches = 0;
  for (NodePtr& node : graph_.newly_ended()) {
    const CommandTimes* times = nullptr;
    CommandTimes marker_times;
    if (node->was_issued()) {
      auto& command = static_cast<DeviceCommand&>(*node);
      device = devices_[command.lane()->device()].get();
      commands += 1;
      if (command.is_launch()) {
        launches += 1;
        if (!command.cut) device->keeper.ran_whole(command.kind(), now - command.issued_at);
      } else if (const std::uint64_t bytes = command.bytes(); bytes > 0) {
        device->keeper.moved(bytes);
      }
      times = command.times();
      if (times != nullptr) {
        node->lane()->last_ended = times->ended;
        if (!command.cut) device->keeper.ran(times->started, times->ended);
      }
      tell_if_held_long(*device, command, now);
      if (settings_.tracer != nullptr) settings_.tracer->ended(command, now);
    } else if (node->lane() != nullptr && node->lane()->clock() != Clock::none) {
      // A marker takes no time: it ends when the command before it has.
      const bool by_device = node->lane()->clock() == Clock::device;
      const std::uint64_t at = by_device ? node->lane()->last_ended : nanoseconds(now);
      marker_times = {at, at, at, at, at};
      times = &marker_times;
    }
    events_.ended(*node, times);
    retired_.push_back(std::move(node));
  }
  graph_.newly_ended().clear();
  std::move(graph_.let_go_of().begin(), graph_.let_go_of().end(), std::back_inserter(retired_));
  graph_.let_go_of().clear();
  tell_backlog();
  if (device == nullptr) return;
  if (settings_.tracer != nullptr) settings_.tracer->write_ended(now);
  in_flight_.fetch_sub(commands, kHint);
  device->keeper.completed(commands, launches, now);
  device->keeper.settle(next_work(*device), now);
}

void Executor::compiles(bool begins) {
  const Lock lock(*this);
  tell_compiling(begins);
}

void Executor::tell_compiling(bool begins) {
  compilations_ += begins ? 1 : -1U;
  if (begins && compilations_ == 1) compile_clock_.start(settings_.now());
  if (compilations_ == 0) compile_clock_.stop(settings_.now());
  for (const auto& device : devices_) {
    device->turn.compile_clock.store(compile_clock_.word(), std::memory_order_relaxed);
  }
}

void Executor::tell_backlog() {
  const bool backlogged = graph_.pending() >= settings_.limits.commands;
  if (backlogged == std::exchange(backlogged_, backlogged)) return;
  segment_.header().limits.backlogged.store(backlogged ? 1 : 0, std::memory_order_relaxed);
}

/// `now`: before the program could see the ends. A wait for an access is over when the program says so.
void Executor::record_waits(TimePoint now) {
  for (const EventTable::EndedWait& wait : events_.ended_waits()) {
    const std::uint64_t told = wait.ended_by_program ? request_.told_ns : 0;
    const bool plausible = told >= wait.from_ns && told <= nanoseconds(now);
    settings_.tracer->call_ended(wire::wait_name(wait.as, wait.made_by), session::TracedCall::kWaited,
                                 wait.from_ns, plausible ? told : nanoseconds(now));
  }
  events_.ended_waits().clear();
}

void Executor::answering(wire::Opcode opcode, std::uint64_t began_ns) {
  if (settings_.tracer == nullptr) return;
  const Lock lock(*this);
  settings_.tracer->call_ended(wire::call_name(opcode), session::TracedCall::kAnswered, began_ns,
                               nanoseconds(settings_.now()));
}

void Executor::tell_if_held_long(Device& device, DeviceCommand& command, TimePoint now) {
  if (command.cut || !settings_.held_long) return;
  const auto held = device.keeper.overrun_by_one(now);
  if (!held) return;
  const std::string_view why = device.slicer.why_whole(command);
  if (!why.empty()) settings_.held_long(command, why, *held, now);
}

TurnKeeper::Next Executor::next_work(Device& device) {
  device.slicer.forget_to_prepare();  // it may be among those that go now
  device.compile_next = false;
  if (device.compiling) return std::nullopt;
  // A command may have been doomed by an error since it became ready; the graph ends it.
  while (!device.ready.empty() && !device.ready.front()->ready()) {
    retired_.push_back(std::move(device.ready.front()));
    device.ready.pop_front();
  }
  if (device.ready.empty()) return std::nullopt;
  DeviceCommand& first = *device.ready.front();
  if (device.compiled == &first) return TurnKeeper::Offer(first.kind(), first.cut);
  switch (device.slicer.way(first, device.keeper, settings_.turn.slice)) {
    case Slicer::Way::whole:
      return offer(device, first, false);
    case Slicer::Way::part:
      return offer(device, first, true);
    case Slicer::Way::not_yet:
      break;
  }
  return std::nullopt;
}

TurnKeeper::Next Executor::offer(Device& device, DeviceCommand& first, bool in_parts) {
  if (first.compiles_late(in_parts)) {
    device.compile_next = device.keeper.in_flight() == 0;
    device.compile_in_parts = in_parts;
    return std::nullopt;
  }
  if (!in_parts) return TurnKeeper::Offer(first.kind());
  return TurnKeeper::Offer(first.kind(), true, device.slicer.ahead_from(settings_.turn.slice));
}

bool Executor::busy() const {
  return std::any_of(devices_.begin(), devices_.end(), [](const auto& device) {
    return device->keeper.in_flight() > 0 || !device->ready.empty() || device->compiling;
  });
}

bool Executor::keeps_idle_turn() const {
  return !busy() && std::any_of(devices_.begin(), devices_.end(),
                                [](const auto& device) { return device->keeper.holds_turn(); });
}

bool Executor::pump_wanted() {
  const bool issue_or_linger = std::any_of(devices_.begin(), devices_.end(), [this](const auto& device) {
    const TurnKeeper::Next next = next_work(*device);
    const bool prepare = device->slicer.has_to_prepare() || device->compile_next;
    const bool issue = next ? device->keeper.worth_issuing(*next) : prepare;
    return issue || device->keeper.lingers_until();
  });
  return issue_or_linger || loop_wanted();
}

bool Executor::loop_wanted() {
  const bool knock =
      std::any_of(devices_.begin(), devices_.end(), [](const auto& device) { return device->knock_again; });
  const bool frees_now = frees_promptly_ || (release_noted_.load(kHint) && !busy());
  const bool free_memory = retired_.size() >= kMostRetired || (frees_now && !retired_.empty());
  const bool read_on = reading_paused_ && (graph_.pending() <= most_at_work_ / 4 * 3 || !busy());
  return knock || free_memory || read_on || notices_.has_backlog();
}

void Executor::finish(Lock& lock, bool wake_loop) {
  ring_after(lock, wake_loop);
  take_reports();
}

void Executor::ring_after(Lock& lock, bool wake_loop) {
  const bool awaited = events_.take_awaited();
  const bool sent = notices_.take_sent();
  // Release: pairs with the acquire in needs_pump().
  if (wake_loop) attention_.store(true, std::memory_order_release);
  lock.unlock_only();
  ring::SegmentHeader& header = segment_.header();
  if (awaited) ring::ring(header.completion_bell);
  if (sent) ring::ring(header.notice_bell);
  if (wake_loop) ring::ring(header.worker_bell);
}

}  // namespace fairgv::vgpu
