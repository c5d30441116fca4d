#include <algorithm>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::ptrdiff_t kMostQueues = 4;  // of a context

template <class T>
void gather(std::vector<Release>& all, Kind kind, const std::vector<T>& models) {
  for (std::size_t i = 0; i < models.size(); ++i)
    if (models[i].held) all.push_back({kind, static_cast<Number>(i)});
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
  world.contexts.push_back({device, true});
  world.emit(MakeContext{number, device});
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

void release_all(World& world) {
  for (std::size_t context = 0; context < world.contexts.size(); ++context) {
    const auto number = static_cast<Number>(context);
    for (std::size_t i = 0; i < world.mappings.size(); ++i) close_mapping(world, number);
    for (std::size_t i = 0; i < world.recordings.size(); ++i) release_recording(world, number);
  }
  read_everything(world);
  check(world);
  for (std::size_t i = 0; i < world.memories.size(); ++i) {
    Memory& memory = world.memories[i];
    if (!memory.held || memory.shape != Shape::kSvm) continue;
    memory.held = false;
    world.emit(FreeSvm{static_cast<Number>(i)});
  }
  std::vector<Release> all;
  gather(all, Kind::kContext, world.contexts);
  gather(all, Kind::kQueue, world.queues);
  gather(all, Kind::kMemory, world.memories);
  gather(all, Kind::kSampler, world.samplers);
  gather(all, Kind::kProgram, world.programs);
  gather(all, Kind::kKernel, world.kernels);
  // Nothing waits for these.
  for (std::size_t i = 0; i < world.events.size(); ++i)
    if (world.events[i].held && world.order.is_user_event(static_cast<Number>(i)))
      world.arm(static_cast<Number>(i));
  gather(all, Kind::kEvent, world.events);
  world.random.shuffle(all);
  for (const Release& each : all) world.emit(each);
}

}  // namespace fairgv::moves
