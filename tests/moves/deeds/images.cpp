#include <algorithm>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

struct Box {
  Triple origin{}, region{};
};

Box any_box(Random& random, const Triple& size) {
  if (random.one_in(3)) return {{0, 0, 0}, size};
  Box box;
  for (std::size_t d = 0; d < size.size(); ++d) {
    box.origin[d] = random.below(size[d]);
    box.region[d] = random.between(1, size[d] - box.origin[d]);
  }
  return box;
}

std::size_t pixels(const Triple& region) {
  return region[0] * region[1] * region[2];
}

/// An image that commands fill and copy. Not of a buffer: the bare driver does not survive it.
std::optional<Number> any_image(World& world, Number context) {
  const auto image = world.any_memory(context, Shape::kImage, 0);
  if (!image || world.memories[*image].type == CL_MEM_OBJECT_IMAGE1D_BUFFER) return std::nullopt;
  return image;
}

}  // namespace

void transfer_image(World& world, Number context) {
  const auto queue = world.any_queue(context);
  const auto number = any_image(world, context);
  if (!queue || !number) return;
  const Memory& image = world.memories[*number];
  const Box box = any_box(world.random, image.size);
  const std::size_t bytes = pixels(box.region) * image.pixel;
  const bool blocking = world.random.one_in(4);
  switch (world.random.below(3)) {
    case 0: {
      FillImage fill{*number, box.origin, box.region, {}};
      for (cl_uint& each : fill.color)
        each = image.normalized ? 0x3F000000 : static_cast<cl_uint>(world.random.below(256));
      world.enqueue(*queue, fill, {{image.storage, true}});
      return;
    }
    case 1:
      world.enqueue(*queue, WriteImage{*number, box.origin, box.region, world.new_data(bytes)},
                    {{image.storage, true}}, blocking);
      return;
    default:
      world.enqueue(*queue, ReadImage{*number, box.origin, box.region, world.new_array(bytes)},
                    {{image.storage, false}}, blocking);
  }
}

void copy_image(World& world, Number context) {
  const auto queue = world.any_queue(context);
  const auto from = any_image(world, context);
  const auto to = any_image(world, context);
  if (!queue || !from || !to) return;
  const Memory& source = world.memories[*from];
  const Memory& target = world.memories[*to];
  const bool alike =
      source.type == target.type && source.pixel == target.pixel && source.format == target.format;
  if (source.storage == target.storage || !alike) return;
  Triple common{};
  for (std::size_t d = 0; d < common.size(); ++d) common[d] = std::min(source.size[d], target.size[d]);
  const Box box = any_box(world.random, common);
  Triple to_origin{};
  for (std::size_t d = 0; d < common.size(); ++d)
    to_origin[d] = world.random.below(target.size[d] - box.region[d] + 1);
  world.enqueue(*queue, CopyImage{*from, *to, box.origin, to_origin, box.region},
                {{source.storage, false}, {target.storage, true}});
}

void copy_between_image_and_buffer(World& world, Number context) {
  const auto queue = world.any_queue(context);
  const auto image_number = any_image(world, context);
  if (!queue || !image_number) return;
  const Memory& image = world.memories[*image_number];
  const Box box = any_box(world.random, image.size);
  const std::size_t bytes = pixels(box.region) * image.pixel;
  const auto buffer_number = world.any_whole_buffer(context, bytes);
  if (!buffer_number) return;
  const Memory& buffer = world.memories[*buffer_number];
  const std::size_t offset = world.random.below(buffer.bytes - bytes + 1);
  const bool to_buffer = world.random.one_in(2);
  const Action action =
      to_buffer ? Action(CopyImageToBuffer{*image_number, *buffer_number, box.origin, box.region, offset})
                : Action(CopyBufferToImage{*buffer_number, *image_number, offset, box.origin, box.region});
  world.enqueue(*queue, action, {{image.storage, !to_buffer}, {buffer.storage, to_buffer}});
}

}  // namespace fairgv::moves
