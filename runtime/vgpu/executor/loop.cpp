#include "runtime/vgpu/executor/loop.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::vgpu {

void Executor::Loop::pump() {
  issue();
  free_retired();
}

void Executor::Loop::issue() {
  executor_.attention_.store(false, kHint);  // by the lock, the code below sees all earlier work
  pending_at_issue_ = pending_seen_;
  for (const auto& issuer : executor_.issuers_) pump(*issuer);
}

bool Executor::Loop::idles_in_turn() {
  const Lock lock(executor_);
  return executor_.keeps_idle_turn();
}

void Executor::Loop::pump(DeviceIssuer& issuer) {
  Lock lock(executor_);
  issuer.knock_again();
  executor_.notices_.flush();
  for (;;) {
    prepare_slicing(issuer, lock);
    compile_first(issuer, lock);
    const TimePoint now = executor_.settings_.now();
    const Next next = issuer.next();
    const std::uint64_t allowed = issuer.may_issue(next, now).count;
    if (issuer.prepares()) continue;
    if (!next || allowed == 0) {
      issuer.rest(next, now);
      update_deadline(now);
      break;
    }
    // Not `now`: the turn may have been granted since then, and nothing is issued before its turn.
    issuer.pick(batch_, allowed, request_.cpu, executor_.settings_.now());
    executor_.finish(lock, false);
    hand_over();
    lock.lock();
  }
  executor_.finish(lock, false);
}

void Executor::Loop::prepare_slicing(DeviceIssuer& issuer, Lock& lock) {
  SliceableLaunch* const launch = issuer.take_to_prepare();
  if (launch == nullptr) return;
  lock.unlock();
  launch->prepare();  // only this thread could end it meanwhile: it has not been issued
  lock.lock();
}

void Executor::Loop::compile_first(DeviceIssuer& issuer, Lock& lock) {
  const std::shared_ptr<DeviceCommand> command = issuer.begin_compiling();
  if (command == nullptr) return;
  executor_.compilations_.begin(executor_.settings_.now());
  if (executor_.settings_.compiler) executor_.settings_.compiler(true);
  lock.unlock();
  const std::int32_t error = command->compile(executor_);
  lock.lock();
  if (error == 0) return;
  executor_.compiler_is_done();
  issuer.compile_refused(command);
}

std::int32_t Executor::Loop::wait_refused(const DeviceCommand& command, const Node& refused) {
  const std::int32_t error = static_cast<const DeviceCommand&>(refused).issue_error;
  const std::int32_t end = command.lane()->after_failed_wait(error);
  return end != 0 ? end : kWaitListFailed;
}

void Executor::Loop::hand_over() {
  for (const auto& command : batch_) {
    const auto waits = command->driver_waits();
    // A dependency that was picked with this command may just have been refused.
    const auto refused = std::find_if(waits.begin(), waits.end(), [](const NodePtr& wait) {
      return static_cast<const DeviceCommand&>(*wait).issue_error != 0;
    });
    // The driver cannot be told to wait for a command that it has not got, whatever it does about failures.
    // Its parts could not be gone on with. While it is cut, a part that ends may change `begun`.
    const bool must_not = !command->cut && command->begun > 0;
    command->issue_error = must_not                     ? kOutOfResources
                           : refused != waits.end()     ? wait_refused(*command, **refused)
                           : command->memory_error != 0 ? command->memory_error
                                                        : command->issue();
    if (command->issue_error != 0) {
      refuse(*command);
    } else if (command->observed) {
      command->watch(executor_);
    }
  }
  // Not before the batch is complete: a driver may begin with the flush.
  for (const auto& command : batch_) {
    if (command->observed && command->issue_error == 0) command->flush();
  }
  batch_.clear();
}

void Executor::Loop::refuse(DeviceCommand& command) {
  Lock lock(executor_);
  executor_.look_at_device(command, command.issue_error);
  const TimePoint now = executor_.settings_.now();
  NodePtr uncovered;
  if (!executor_.issuer_of(command).refused_part(command, now)) {
    uncovered = executor_.graph_.refused(command, command.issue_error);
  }
  executor_.collect(now);
  executor_.finish(lock, false);
  if (uncovered) static_cast<DeviceCommand&>(*uncovered).watch(executor_);
}

void Executor::Loop::free_retired() {
  {
    const Lock lock(executor_);
    dying_.swap(executor_.completions_.retired());
    if (own_ > 0) {
      own_ -= static_cast<std::uint64_t>(std::count_if(
          dying_.begin(), dying_.end(), [](const NodePtr& node) { return node->stays_behind; }));
    }
    // Commands that still wait for something may hold the released object.
    if (!executor_.busy() && executor_.graph_.pending() == 0) executor_.release_noted_.store(false, kHint);
  }
  dying_.clear();
}

void Executor::Loop::use_device(wire::DeviceIndex device) {
  const Lock lock(executor_);
  if (device < executor_.issuers_.size())
    executor_.issuers_[device]->rest(DeviceIssuer::Rest::device_is_used);
  executor_.attention_.store(true, kHint);
}

bool Executor::Loop::saturated() {
  if (pending_seen_ <= executor_.most_at_work_) return false;
  const Lock lock(executor_);
  pending_seen_ = executor_.graph_.pending();
  executor_.reading_paused_ = pending_seen_ > executor_.most_at_work_ && executor_.busy();
  return executor_.reading_paused_;
}

void Executor::Loop::update_deadline(TimePoint now) {
  deadline_ = {};
  if (executor_.notices_.has_backlog()) deadline_.at = now + kRetry;
  for (const auto& issuer : executor_.issuers_) {
    if (const auto its = issuer->deadline(now); its.at < deadline_.at) deadline_ = its;
  }
}

}  // namespace fairgv::vgpu
