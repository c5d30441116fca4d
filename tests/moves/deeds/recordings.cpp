#include <algorithm>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::size_t kMostRecordings = 2;  // of a context

std::vector<Number> held_recordings(const World& world, Number context) {
  std::vector<Number> held;
  for (std::size_t i = 0; i < world.recordings.size(); ++i) {
    const RecordingModel& each = world.recordings[i];
    if (each.held && world.queues[each.queue].context == context) held.push_back(static_cast<Number>(i));
  }
  return held;
}

/// The commands of a recording, each behind those before it that use the same memory.
class RecordingPlanner {
 public:
  RecordingPlanner(World& world, Number context, RecordingModel& model)
      : world_(world), context_(context), model_(model) {}

  std::vector<RecordedCommand> commands() && { return std::move(commands_); }

  void add_any() {
    switch (world_.random.below(4)) {
      case 0:
        return add_copy();
      case 1:
        return add_fill();
      default:
        return add_launch();
    }
  }

 private:
  /// With a kernel of its own, whose arguments nobody changes.
  void add_launch() {
    const auto program = any_program(world_, context_);
    if (!program) return;
    const KernelKind& kind = world_.random.of(world_.programs[*program].module->kernels);
    // PoCL 3.1 counts the uses of a sampler down with each replay.
    if (std::find(kind.parameters.begin(), kind.parameters.end(), Parameter::kSampler) !=
        kind.parameters.end())
      return;
    const Number kernel = add_kernel(world_, *program, kind);
    world_.kernels[kernel].recorded = true;
    model_.kernels.push_back(kernel);
    if (auto prepared = prepare_launch(world_, kernel, true)) {
      prepared->launch.has_local = true;
      add(prepared->launch, prepared->uses, prepared->memories);
    }
  }

  void add_copy() {
    const auto from = world_.any_memory(context_, Shape::kBuffer, 0);
    const auto to = world_.any_memory(context_, Shape::kBuffer, 0);
    if (!from || !to) return;
    const Memory& source = world_.memories[*from];
    const Memory& target = world_.memories[*to];
    if (source.storage == target.storage) return;
    const std::size_t bytes = world_.random.between(1, std::min(source.bytes, target.bytes));
    add(CopyBuffer{*from, *to, source.bytes - bytes, target.bytes - bytes, bytes},
        {{source.storage, false}, {target.storage, true}}, {*from, *to});
  }

  void add_fill() {
    const auto memory = world_.any_memory(context_, Shape::kBuffer, 0);
    if (!memory) return;
    const Memory& target = world_.memories[*memory];
    add(FillBuffer{*memory, 0, 4 * world_.random.between(1, target.bytes / 4), world_.new_data(4)},
        {{target.storage, true}}, {*memory});
  }

  void add(Action action, const std::vector<Use>& uses, const std::vector<Number>& memories) {
    RecordedCommand command{std::move(action), {}};
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const bool meets = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
        return std::any_of(uses_[i].begin(), uses_[i].end(), [&](const Use& before) {
          return before.storage == use.storage && (before.writes || use.writes);
        });
      });
      if (meets) command.waits.push_back(i);
    }
    commands_.push_back(std::move(command));
    uses_.push_back(uses);
    model_.uses.insert(model_.uses.end(), uses.begin(), uses.end());
    model_.memories.insert(model_.memories.end(), memories.begin(), memories.end());
  }

  World& world_;
  Number context_;
  RecordingModel& model_;
  std::vector<RecordedCommand> commands_;
  std::vector<std::vector<Use>> uses_;  // of each command
};

}  // namespace

void record(World& world, Number context) {
  const auto queue = world.any_queue(context);
  if (!world.can.command_buffers || world.can.only_portable || !queue ||
      held_recordings(world, context).size() >= kMostRecordings)
    return;
  RecordingModel model;
  model.queue = *queue;
  model.simultaneous = world.random.one_in(2);
  RecordingPlanner recorder(world, context, model);
  for (std::uint64_t more = world.random.between(2, 5); more > 0; --more) recorder.add_any();
  auto commands = std::move(recorder).commands();
  const auto number = static_cast<Number>(world.recordings.size());
  if (commands.empty()) {
    for (const Number each : model.kernels) {
      world.emit(Release{Kind::kKernel, each});
      world.kernels[each].held = false;
    }
    return;
  }
  world.emit(Record{number, *queue, model.simultaneous, std::move(commands)});
  world.recordings.push_back(std::move(model));
}

void replay(World& world, Number context) {
  const auto recordings = held_recordings(world, context);
  if (recordings.empty()) return;
  const Number number = world.random.of(recordings);
  RecordingModel& recording = world.recordings[number];
  if (!world.queues[recording.queue].held) return;
  for (const Use& each : recording.uses)
    if (world.storages[each.storage].mapped) return;
  if (!recording.simultaneous && recording.latest != kNone && !world.order.has_ended(recording.latest))
    world.wait_for({world.event_of(recording.latest)});
  recording.latest = world.enqueue(recording.queue, Replay{number}, recording.uses);
}

void release_recording(World& world, Number context) {
  const auto recordings = held_recordings(world, context);
  if (recordings.empty()) return;
  const Number number = world.random.of(recordings);
  RecordingModel& recording = world.recordings[number];
  if (recording.latest != kNone && !world.order.has_ended(recording.latest))
    world.wait_for({world.event_of(recording.latest)});
  world.emit(Release{Kind::kRecording, number});
  recording.held = false;
  for (const Number each : recording.kernels) {
    world.emit(Release{Kind::kKernel, each});
    world.kernels[each].held = false;
  }
}

}  // namespace fairgv::moves
