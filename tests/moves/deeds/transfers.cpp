#include <algorithm>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr cl_mem_flags kNoReads = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kNoWrites = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

struct Range {
  std::size_t offset = 0, bytes = 0;
};

/// Whole elements of `unit` bytes; the memory has at least one.
Range any_range(Random& random, std::size_t bytes, std::size_t unit) {
  const std::size_t units = bytes / unit;
  if (random.one_in(3)) return {0, units * unit};
  const std::size_t first = random.below(units);
  return {first * unit, random.between(1, units - first) * unit};
}

/// A queue and memory of the context, if there are both.
struct Target {
  Number queue = kNone, memory = kNone;
  explicit operator bool() const { return queue != kNone && memory != kNone; }
};

Target any_target(World& world, Number context, Shape shape, cl_mem_flags without, std::size_t bytes = 1) {
  return {world.any_queue(context).value_or(kNone),
          world.any_memory(context, shape, without, bytes).value_or(kNone)};
}

/// A box of rows in a buffer, or in host memory, with gaps between rows and slices.
Layout any_layout(Random& random, const Triple& region) {
  Layout layout;
  layout.origin = {random.below(9), random.below(3), random.below(2)};
  layout.row = layout.origin[0] + region[0] + random.below(13);
  layout.slice = layout.row * (layout.origin[1] + region[1] + random.below(3));
  return layout;
}

/// The bytes from the beginning to the end of the box.
std::size_t extent(const Layout& layout, const Triple& region) {
  return (layout.origin[2] + region[2] - 1) * layout.slice + (layout.origin[1] + region[1] - 1) * layout.row +
         layout.origin[0] + region[0];
}

Triple any_region(Random& random) {
  return {random.between(1, 60), random.between(1, 8), random.between(1, 4)};
}

}  // namespace

void read_buffer(World& world, Number context) {
  const Target target = any_target(world, context, Shape::kBuffer, kNoReads);
  if (!target) return;
  const Memory& memory = world.memories[target.memory];
  const Range range = any_range(world.random, memory.bytes, world.random.one_in(2) ? 4 : 1);
  world.enqueue(target.queue, ReadBuffer{target.memory, range.offset, world.new_array(range.bytes)},
                {{memory.storage, false}}, world.random.one_in(4));
}

void write_buffer(World& world, Number context) {
  const Target target = any_target(world, context, Shape::kBuffer, kNoWrites);
  if (!target) return;
  const Memory& memory = world.memories[target.memory];
  const Range range = any_range(world.random, memory.bytes, world.random.one_in(2) ? 4 : 1);
  world.enqueue(target.queue, WriteBuffer{target.memory, range.offset, world.new_data(range.bytes)},
                {{memory.storage, true}}, world.random.one_in(4));
}

void fill_buffer(World& world, Number context) {
  const std::size_t pattern = std::size_t{1} << world.random.below(6);
  const Target target = any_target(world, context, Shape::kBuffer, 0, pattern);
  if (!target) return;
  const Memory& memory = world.memories[target.memory];
  const Range range = any_range(world.random, memory.bytes, pattern);
  world.enqueue(target.queue, FillBuffer{target.memory, range.offset, range.bytes, world.new_data(pattern)},
                {{memory.storage, true}});
}

void copy_buffer(World& world, Number context) {
  const Target from = any_target(world, context, Shape::kBuffer, 0);
  const Target to = any_target(world, context, Shape::kBuffer, 0);
  if (!from || !to || world.memories[from.memory].storage == world.memories[to.memory].storage) return;
  const Memory& source = world.memories[from.memory];
  const Memory& target = world.memories[to.memory];
  const Range range = any_range(world.random, std::min(source.bytes, target.bytes), 1);
  const CopyBuffer copy{from.memory, to.memory, world.random.below(source.bytes - range.bytes + 1),
                        world.random.below(target.bytes - range.bytes + 1), range.bytes};
  world.enqueue(from.queue, copy, {{source.storage, false}, {target.storage, true}});
}

void transfer_rect(World& world, Number context) {
  const bool reads = world.random.one_in(2);
  const Triple region = any_region(world.random);
  const Layout in_buffer = any_layout(world.random, region);
  const Layout in_host = any_layout(world.random, region);
  const Target target =
      any_target(world, context, Shape::kBuffer, reads ? kNoReads : kNoWrites, extent(in_buffer, region));
  if (!target) return;
  const Number storage = world.memories[target.memory].storage;
  const std::size_t bytes = extent(in_host, region);
  const bool blocking = world.random.one_in(4);
  if (reads) {
    world.enqueue(target.queue, ReadRect{target.memory, in_buffer, in_host, region, world.new_array(bytes)},
                  {{storage, false}}, blocking);
  } else {
    world.enqueue(target.queue, WriteRect{target.memory, in_buffer, in_host, region, world.new_data(bytes)},
                  {{storage, true}}, blocking);
  }
}

void copy_rect(World& world, Number context) {
  const Triple region = any_region(world.random);
  const Layout in_from = any_layout(world.random, region);
  const Layout in_to = any_layout(world.random, region);
  const auto queue = world.any_queue(context);
  const auto from = world.any_whole_buffer(context, extent(in_from, region));
  const auto to = world.any_whole_buffer(context, extent(in_to, region));
  if (!queue || !from || !to || world.memories[*from].storage == world.memories[*to].storage) return;
  world.enqueue(*queue, CopyRect{*from, *to, in_from, in_to, region},
                {{world.memories[*from].storage, false}, {world.memories[*to].storage, true}});
}

void migrate_memory(World& world, Number context) {
  const Target target = any_target(world, context, Shape::kBuffer, 0);
  if (!target) return;
  const cl_mem_migration_flags flags = world.random.one_in(2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0;
  world.enqueue(target.queue, Migrate{target.memory, flags}, {{world.memories[target.memory].storage, true}});
}

void transfer_svm(World& world, Number context) {
  const Target target = any_target(world, context, Shape::kSvm, 0);
  if (!target) return;
  const Memory& memory = world.memories[target.memory];
  const Range range = any_range(world.random, memory.bytes, 4);
  switch (world.random.below(3)) {
    case 0:
      world.enqueue(target.queue, SvmFill{target.memory, range.offset, range.bytes, world.new_data(4)},
                    {{memory.storage, true}});
      return;
    case 1:
      world.enqueue(target.queue, SvmWrite{target.memory, range.offset, world.new_data(range.bytes)},
                    {{memory.storage, true}}, world.random.one_in(3));
      return;
    default:
      world.enqueue(target.queue, SvmRead{target.memory, range.offset, world.new_array(range.bytes)},
                    {{memory.storage, false}}, world.random.one_in(3));
  }
}

}  // namespace fairgv::moves
