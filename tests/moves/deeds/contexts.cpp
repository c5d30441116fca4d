#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::ptrdiff_t kMostQueues = 4;  // of a context

/// From now on the program does not hold what it has of that kind in the context.
template <class T>
void gather(std::vector<Release>& all, Kind kind, std::vector<T>& models, Number context) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].context != context || !std::exchange(models[i].held, false)) continue;
    all.push_back({kind, static_cast<Number>(i)});
  }
}

/// The objects that stand between a context and its end.
void close_all(World& world, Number context) {
  for (std::size_t i = 0; i < world.mappings.size(); ++i) close_mapping(world, context);
  for (std::size_t i = 0; i < world.recordings.size(); ++i) release_recording(world, context);
}

/// Frees and gathers all that the program holds of a context in which nothing is pending.
void gather_all(World& world, Number context, std::vector<Release>& all) {
  for (std::size_t i = 0; i < world.memories.size(); ++i) {
    Memory& memory = world.memories[i];
    if (memory.shape != Shape::kSvm || memory.context != context) continue;
    if (std::exchange(memory.held, false)) world.emit(FreeSvm{static_cast<Number>(i)});
  }
  // Nothing waits for these.
  for (std::size_t i = 0; i < world.events.size(); ++i) {
    const auto number = static_cast<Number>(i);
    if (world.events[i].context != context || !world.events[i].held) continue;
    if (world.order.is_user_event(number)) world.arm(number);
  }
  world.contexts[context].held = false;
  all.push_back({Kind::kContext, context});
  gather(all, Kind::kQueue, world.queues, context);
  gather(all, Kind::kMemory, world.memories, context);
  gather(all, Kind::kSampler, world.samplers, context);
  gather(all, Kind::kProgram, world.programs, context);
  gather(all, Kind::kKernel, world.kernels, context);
  gather(all, Kind::kEvent, world.events, context);
}

void release_in_any_order(World& world, std::vector<Release> all) {
  world.random.shuffle(all);
  for (const Release& each : all) world.emit(each);
}

/// The memory that the host may read.
void read_everything(World& world) {
  for (std::size_t i = 0; i < world.memories.size(); ++i) {
    const Memory& memory = world.memories[i];
    const auto number = static_cast<Number>(i);
    const auto queue = world.any_queue(memory.context);
    if (!memory.held || !queue || world.storages[memory.storage].mapped) continue;
    if ((memory.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) != 0) continue;
    const Array to = world.new_array(memory.bytes);
    Action action = ReadBuffer{number, 0, to};
    if (memory.shape == Shape::kSvm) action = SvmRead{number, 0, to};
    if (memory.shape == Shape::kImage) action = ReadImage{number, {0, 0, 0}, memory.size, to};
    if (memory.type != CL_MEM_OBJECT_IMAGE1D_BUFFER) world.enqueue(*queue, action, {{memory.storage, false}});
  }
}

}  // namespace

void make_queue(World& world, Number context) {
  const auto held = std::count_if(world.queues.begin(), world.queues.end(), [&](const QueueModel& each) {
    return each.held && each.context == context;
  });
  if (held >= kMostQueues) return;
  QueueModel queue{
      .context = context, .profiling = world.random.one_in(2), .out_of_order = world.random.one_in(2)};
  const Number number = world.order.add_queue(queue.out_of_order);
  world.queues.push_back(queue);
  const cl_command_queue_properties profiling = queue.profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
  const cl_command_queue_properties order = queue.out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
  world.emit(MakeQueue{number, context, profiling | order});
}

void release_queue(World& world, Number context) {
  std::vector<Number> held;
  for (std::size_t i = 0; i < world.queues.size(); ++i)
    if (world.queues[i].held && world.queues[i].context == context) held.push_back(static_cast<Number>(i));
  if (held.size() < 2) return;
  const Number queue = world.random.of(held);
  for (const RecordingModel& each : world.recordings)
    if (each.held && each.queue == queue) return;
  world.release_queue(queue);
}

void make_context(World& world) {
  const auto number = static_cast<Number>(world.contexts.size());
  const std::size_t device = world.random.below(world.can.devices);
  const bool on_part = world.can.sub_devices && !world.can.only_portable && world.random.one_in(3);
  world.contexts.push_back({device, on_part});
  world.emit(MakeContext{number, device, on_part});
  for (std::uint64_t more = world.random.between(1, 3); more > 0; --more) make_queue(world, number);
  for (std::uint64_t more = world.random.between(2, 4); more > 0; --more) make_buffer(world, number);
  make_image(world, number);
  make_svm(world, number);
  make_sampler(world, number);
  make_program(world, number);
}

void check(World& world) {
  if (world.random.one_in(2)) read_everything(world);
  // Others may stay open.
  for (std::size_t i = 0; i < world.events.size(); ++i) {
    const auto number = static_cast<Number>(i);
    if (world.events[i].has_callback && world.order.is_user_event(number)) world.arm(number);
  }
  world.finish_all();
  world.emit(Check{});
}

void release_context(World& world, Number context) {
  close_all(world, context);
  world.finish_all(context);
  std::vector<Release> all;
  gather_all(world, context, all);
  release_in_any_order(world, std::move(all));
  // In the places of what was released.
  if (!world.any_context() || world.random.one_in(2)) make_context(world);
}

void release_all(World& world) {
  std::vector<Number> contexts;
  for (std::size_t i = 0; i < world.contexts.size(); ++i)
    if (world.contexts[i].held) contexts.push_back(static_cast<Number>(i));
  for (const Number each : contexts) close_all(world, each);
  read_everything(world);
  check(world);
  std::vector<Release> all;
  for (const Number each : contexts) gather_all(world, each, all);
  release_in_any_order(world, std::move(all));
}

}  // namespace fairgv::moves
