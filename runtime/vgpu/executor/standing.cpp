// Executor::Loop: coming to rest, and going on with what another worker has left.
#include <algorithm>
#include <utility>

#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/executor/standing.hpp"
#include "runtime/vgpu/issue/tracer.hpp"

namespace fairgv::vgpu {

void Executor::Loop::rest(bool rests) {
  executor_.rests_.store(rests, std::memory_order_seq_cst);
  const auto rest = rests ? DeviceIssuer::Rest::begins : DeviceIssuer::Rest::ends;
  const Lock lock(executor_);
  for (const auto& issuer : executor_.issuers_) issuer->rest(rest);
  executor_.attention_.store(true, kHint);
}

bool Executor::Loop::at_rest() const {
  const Lock lock(executor_);
  return std::all_of(executor_.issuers_.begin(), executor_.issuers_.end(),
                     [](const auto& issuer) { return issuer->at_rest(); });
}

void Executor::Loop::enqueue_own(const std::shared_ptr<DeviceCommand>& command) {
  Lock lock(executor_);
  command->stays_behind = true;
  ++own_;
  executor_.add_to_graph(command, false, 0);
  executor_.was_added(lock);
}

std::optional<sched::Duration> Executor::Loop::estimated(wire::DeviceIndex device,
                                                         sched::CommandKind kind) const {
  const Lock lock(executor_);
  return executor_.issuers_.at(device)->history().estimate(kind);
}

std::vector<NodePtr> Executor::Loop::under_way() const {
  const Lock lock(executor_);
  return executor_.graph_.under_way();
}

void Executor::Loop::begin_restoring() {
  rest(true);
  const Lock lock(executor_);
  is_restoring_ = true;
  executor_.compilations_.leave_to_another();
}

Standing Executor::Loop::standing() const {
  const Lock lock(executor_);
  Standing standing{executor_.events_.states(), {}, {}, executor_.notices_.kept(), {}};
  for (const auto& issuer : executor_.issuers_) standing.histories.push_back(issuer->history().known());
  for (const EventTable::State& state : standing.events) {
    if (state.node && state.node->work() == Work::user) standing.user_events.push_back(state.node);
  }
  // Other external nodes are the worker's own, for which no command waits.
  standing.nodes = executor_.graph_.standing(standing.user_events);
  return standing;
}

Result<void> Executor::Loop::restore(const RestoredEvents& restored) {
  const Lock lock(executor_);
  for (const EventTable::State& state : restored.events) FAIRGV_CHECK(executor_.events_.restore(state));
  for (const auto& [event, work] : early_) {
    if (!work->ended()) executor_.events_.attach(event, work);
  }
  early_.clear();
  for (const wire::EventId event : restored.user_events) {
    const auto node = std::make_shared<Node>(Work::user);
    if (!executor_.events_.attach(event, node)) return Error{"an image with a user event that is no event"};
    restored_nodes_.push_back(node);
  }
  for (const wire::EventReached& notice : restored.notices) executor_.notices_.keep(notice);
  FAIRGV_CHECK(restore_histories(restored));
  return {};
}

/// With the lock held. On other devices the times are a first guess, and are measured anew: the session may
/// have moved to one of them.
Result<void> Executor::Loop::restore_histories(const RestoredEvents& restored) {
  auto& issuers = executor_.issuers_;
  for (const auto& [device, known] : restored.histories) {
    if (device >= issuers.size()) return Error{"an image with the history of a device that is none"};
    issuers[device]->history().take_over(known);
  }
  for (const auto& [device, known] : restored.histories) {
    for (const auto& issuer : issuers) {
      if (!issuer->history().estimate(known.kind)) issuer->history().take_over({known.kind, known.time, 0});
    }
  }
  return {};
}

/// The node takes its place among the restored ones.
Result<void> Executor::Loop::add_again(const NodePtr& node, bool named_waits) {
  const RestoredCommand& command = *restored_;
  const auto give_up = [this](const char* why) {
    executor_.waits_.clear();
    return Error{why};
  };
  for (const std::uint32_t place : command.waits) {
    // An event that the program has released, and that nobody can set any more.
    if (place == CommandGraph::kNever) {
      executor_.waits_.push_back(std::make_shared<Node>(Work::user));
      continue;
    }
    if (place >= restored_nodes_.size()) return give_up("an image with a wait for a later command");
    // Ended already only if it could not be handed to any driver.
    if (!restored_nodes_[place]->ended()) executor_.waits_.push_back(restored_nodes_[place]);
  }
  if (command.begun > 0) {
    auto* const launch = dynamic_cast<DeviceCommand*>(node.get());
    const auto all = slicing::volume(command.groups);
    if (launch == nullptr || launch->sliceable() == nullptr ||
        launch->sliceable()->grid().groups() != command.groups || !all || command.begun >= *all)
      return give_up("a launch that has begun in parts cannot be cut there as it was here");
    launch->begun = command.begun;
  }
  if (command.error != 0) node->fail(command.error);
  if (command.failed_wait != 0) node->fail_by_wait(command.failed_wait);
  if (command.event && !executor_.events_.attach(command.event, node))
    return give_up("an image with a command whose event is no event");
  node->made_by = keep_call();
  node->place_in_call = command.part;
  restored_nodes_.push_back(node);
  executor_.add_to_graph(node, named_waits, 0);
  return {};
}

Result<void> Executor::Loop::prepare_begun(const std::function<void()>& finish_builds) {
  SliceableLaunch& launch = *static_cast<DeviceCommand&>(*restored_nodes_.back()).sliceable();
  if (launch.readiness() == SliceableLaunch::Readiness::unprepared) launch.prepare();
  finish_builds();
  if (launch.readiness() == SliceableLaunch::Readiness::ready) return {};
  return Error{"a launch that has begun in parts cannot go on there, which cannot run its parts"};
}

void Executor::Loop::end_restoring() {
  const Lock lock(executor_);
  is_restoring_ = false;
  restored_ = nullptr;
  restored_nodes_.clear();
}

void Executor::Loop::take_over() {
  {
    const Lock lock(executor_);
    executor_.notices_.take_over();
    if (executor_.settings_.tracer != nullptr) executor_.settings_.tracer->take_over();
    executor_.compilations_.take_over(executor_.settings_.now());
    for (const auto& issuer : executor_.issuers_) issuer->rest(DeviceIssuer::Rest::is_taken_over);
  }
  rest(false);
}

}  // namespace fairgv::vgpu
