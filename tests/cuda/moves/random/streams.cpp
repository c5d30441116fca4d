// Commands, streams and events of a random CUDA program.
#include <utility>

#include "tests/cuda/moves/random/commands.hpp"
#include "tests/cuda/moves/random/deeds.hpp"

namespace fairgv::moves::cuda {
namespace {

constexpr std::size_t kMostStreams = 6;
constexpr std::size_t kMostEvents = 10;

}  // namespace

void enqueue_commands(World& world) {
  for (std::uint64_t more = world.random.between(1, 4); more > 0; --more) {
    const auto command = any_command(world);
    if (command) world.enqueue(world.any_stream(), *command);
  }
}

void make_gate(World& world) {
  world.make_gate(world.any_stream());
}

void remember_address(World& world) {
  if (world.modules.empty() || world.buffers.empty()) return;
  const auto module = world.random.of(world.modules);
  // A graph may know the memory that is there by now.
  if (module->holders > 0) return;
  const auto buffer = world.random.of(world.buffers);
  if (module->placed) --module->placed->holders;
  ++buffer->holders;
  module->placed = buffer;
  CUdeviceptr address = buffer->address;
  const Number stream = world.any_stream();
  world.begin(stream, {}, {module});
  void* arguments[] = {&address};
  FAIRGV_CHECKED(cuLaunchKernel(module->function("remember"), 1, 1, 1, 1, 1, 1, 0, world.handle(stream),
                                arguments, nullptr));
}

void set_constant(World& world) {
  if (world.modules.empty()) return;
  const auto module = world.random.of(world.modules);
  const auto value = static_cast<std::uint32_t>(world.random.next());
  const Number stream = world.any_stream();
  world.open_gates();  // memory that is not pinned may be read when the stream gets there
  world.begin(stream, {}, {module});
  FAIRGV_CHECKED(cuMemcpyHtoDAsync(module->constant, &value, sizeof(value), world.handle(stream)));
}

void write_from_host(World& world) {
  if (world.buffers.empty()) return;
  const auto buffer = world.random.of(world.buffers);
  const std::size_t first = world.random.below(buffer->numbers);
  const std::size_t count = world.random.between(1, buffer->numbers - first);
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(world.random.next());
  world.begin_on_host(*buffer, true);
  if (buffer->host != nullptr && world.random.one_in(2)) {
    if (buffer->kind == Buffer::Kind::managed) world.synchronize_all();
    std::copy(values.begin(), values.end(), buffer->host + first);
  } else {
    world.begin(kDefaultStream, {}, {buffer});
    FAIRGV_CHECKED(
        cuMemcpyHtoD(buffer->address + first * sizeof(values[0]), values.data(), count * sizeof(values[0])));
  }
}

void make_stream(World& world) {
  if (world.stream_count() == kMostStreams) return;
  world.open_gates();
  world.add_stream(world.random.one_in(2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
}

void destroy_stream(World& world) {
  const Number stream = world.any_stream();
  if (world.handle(stream) != nullptr && world.random.one_in(3)) world.destroy_stream(stream);
}

void keep_event(World& world) {
  if (world.events.size() < kMostEvents) world.events.push_back(world.record(world.any_stream()));
}

void wait_for_event(World& world) {
  if (world.events.empty()) return;
  const KeptEvent& event = world.random.of(world.events);
  if (world.random.one_in(3)) {
    world.wait_for(event);
  } else {
    world.make_wait(world.any_stream(), event);
  }
}

void drop_event(World& world) {
  if (world.events.empty()) return;
  std::swap(world.events[world.random.below(world.events.size())], world.events.back());
  FAIRGV_CHECKED(cuEventDestroy(world.events.back().event));
  world.events.pop_back();
}

void synchronize(World& world) {
  world.synchronize(world.any_stream());
}

}  // namespace fairgv::moves::cuda
