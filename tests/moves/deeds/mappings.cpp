#include <algorithm>
#include <cstddef>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::ptrdiff_t kMostOpen = 4;

bool is_open(const World& world, const MappingModel& mapping, Number context) {
  return mapping.open && world.memories[mapping.memory].context == context;
}

}  // namespace

void open_mapping(World& world, Number context) {
  const auto open = std::count_if(world.mappings.begin(), world.mappings.end(),
                                  [&](const MappingModel& each) { return is_open(world, each, context); });
  static const std::vector<Shape> shapes = {Shape::kBuffer, Shape::kBuffer, Shape::kImage, Shape::kSvm};
  const auto memory =
      world.any_memory(context, world.random.of(shapes),
                       CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS);
  const auto queue = world.any_queue(context);
  if (!memory || !queue || open >= kMostOpen) return;
  const Memory& model = world.memories[*memory];
  if (model.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) return;
  static const std::vector<cl_map_flags> all_flags = {CL_MAP_READ, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE,
                                                      CL_MAP_WRITE_INVALIDATE_REGION};
  const cl_map_flags flags = world.random.of(all_flags);
  const auto number = static_cast<Number>(world.mappings.size());
  Triple origin{}, region = model.size;
  if (model.shape == Shape::kImage) {
    for (std::size_t d = 0; d < region.size(); ++d) {
      origin[d] = world.random.below(region[d]);
      region[d] = world.random.between(1, region[d] - origin[d]);
    }
  } else {
    origin = {world.random.one_in(2) ? 0 : world.random.below(model.bytes), 0, 0};
    region = {world.random.between(1, model.bytes - origin[0]), 1, 1};
  }
  const Action action =
      model.shape == Shape::kSvm
          ? Action(SvmMap{number, *memory, flags, origin[0], region[0]})
          : Action(Map{number, *memory, flags, model.shape == Shape::kImage, origin, region});
  const bool writes = (flags & ~static_cast<cl_map_flags>(CL_MAP_READ)) != 0;
  const Number storage = model.storage;
  const Number command = world.enqueue(*queue, action, {{storage, writes}}, world.random.one_in(3));
  world.mappings.push_back({*memory, command, flags, true});
  world.storages[storage].mapped = true;
}

void close_mapping(World& world, Number context) {
  std::vector<Number> open;
  for (std::size_t i = 0; i < world.mappings.size(); ++i)
    if (is_open(world, world.mappings[i], context)) open.push_back(static_cast<Number>(i));
  const auto queue = world.any_queue(context);
  if (open.empty() || !queue) return;
  const Number number = world.random.of(open);
  MappingModel& mapping = world.mappings[number];
  if (!world.order.has_ended(mapping.command)) world.wait_for({world.event_of(mapping.command)});
  const bool reads = (mapping.flags & CL_MAP_READ) != 0;
  const bool writes = (mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
  world.emit(TouchMapping{number, reads, writes, world.random.next()});
  const Memory& memory = world.memories[mapping.memory];
  world.storages[memory.storage].mapped = false;
  mapping.open = false;
  const Action action = memory.shape == Shape::kSvm ? Action(SvmUnmap{number}) : Action(Unmap{number});
  world.enqueue(*queue, action, {{memory.storage, true}});
}

}  // namespace fairgv::moves
