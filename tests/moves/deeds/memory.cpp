#include <algorithm>
#include <iterator>

#include "tests/moves/deeds/deeds.hpp"

namespace fairgv::moves {
namespace {

constexpr std::size_t kMostMemories = 14;  // of a context
constexpr std::size_t kAlignment = 128;    // of sub-buffers, for every device of PoCL

bool has_room(const World& world, Number context) {
  return static_cast<std::size_t>(std::count_if(
             world.memories.begin(), world.memories.end(),
             [&](const Memory& each) { return each.held && each.context == context; })) < kMostMemories;
}

Number add(World& world, Memory memory, bool new_storage = true) {
  if (new_storage) {
    memory.storage = static_cast<Number>(world.storages.size());
    world.storages.emplace_back();
  }
  world.memories.push_back(memory);
  return static_cast<Number>(world.memories.size() - 1);
}

cl_mem_flags any_access(Random& random) {
  static const std::vector<cl_mem_flags> all = {0, CL_MEM_READ_WRITE, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY,
                                                CL_MEM_WRITE_ONLY};
  return random.of(all);
}

cl_mem_flags any_place(Random& random) {
  static const std::vector<cl_mem_flags> all = {0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
                                                CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
                                                CL_MEM_USE_HOST_PTR};
  return random.of(all);
}

cl_mem_flags any_host_access(Random& random) {
  static const std::vector<cl_mem_flags> all = {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
                                                CL_MEM_HOST_NO_ACCESS};
  return random.one_in(6) ? random.of(all) : 0;
}

bool has_contents(cl_mem_flags flags) {
  return (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
}

/// Elements of four bytes: often few, seldom many.
std::size_t any_bytes(Random& random) {
  return 4 * random.between(64, std::size_t{256} << random.below(random.one_in(6) ? 11 : 8));
}

/// Undefined contents would be a result of their own.
void fill_image(World& world, Number memory) {
  const Memory& image = world.memories[memory];
  FillImage fill{memory, {0, 0, 0}, image.size, {}};
  for (cl_uint& each : fill.color)
    each = image.normalized ? 0x3E800000 : static_cast<cl_uint>(world.random.below(256));
  if (const auto queue = world.any_queue(image.context)) {
    world.enqueue(*queue, fill, {{image.storage, true}});
  }
}

struct Format {
  cl_image_format format;
  std::size_t pixel;
};
constexpr Format kFormats[] = {{{CL_RGBA, CL_UNORM_INT8}, 4},
                               {{CL_R, CL_UNSIGNED_INT32}, 4},
                               {{CL_RGBA, CL_UNSIGNED_INT8}, 4},
                               {{CL_RGBA, CL_UNSIGNED_INT32}, 16}};
constexpr std::size_t kIntegers = 1;  // the first of the formats without fractions

void choose_format(Random& random, Memory& image) {
  image.format = image.normalized ? 0 : random.between(kIntegers, std::size(kFormats) - 1);
  image.pixel = kFormats[image.format].pixel;
}

Triple any_image_size(Random& random, cl_mem_object_type type) {
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
      return {random.between(1, 2000), 1, 1};
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    case CL_MEM_OBJECT_IMAGE2D:
      return {random.between(1, 150), random.between(1, 60), 1};
    default:
      return {random.between(1, 40), random.between(1, 20), random.between(1, 8)};
  }
}

}  // namespace

void make_buffer(World& world, Number context) {
  if (!has_room(world, context)) return;
  Random& random = world.random;
  const std::size_t bytes = any_bytes(random);
  const cl_mem_flags flags = any_access(random) | any_place(random) | any_host_access(random);
  const Number number = add(world, {.context = context, .flags = flags, .bytes = bytes});
  world.emit(MakeBuffer{number, context, flags, world.new_data(bytes)});
  if (has_contents(flags)) return;
  if (const auto queue = world.any_queue(context)) {
    world.enqueue(*queue, FillBuffer{number, 0, bytes, world.new_data(4)},
                  {{world.memories[number].storage, true}});
  }
}

void make_sub_buffer(World& world, Number context) {
  const auto parent = world.any_memory(context, Shape::kBuffer, 0, 2 * kAlignment);
  if (!parent || world.memories[*parent].is_part || !has_room(world, context)) return;
  Memory part = world.memories[*parent];
  part.is_part = true;
  const std::size_t origin = kAlignment * world.random.below(part.bytes / kAlignment);
  part.bytes = 4 * world.random.between(1, (part.bytes - origin) / 4);
  const cl_mem_flags narrowed = CL_MEM_READ_ONLY;
  const bool narrows = (part.flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) == 0 && world.random.one_in(4);
  if (narrows) part.flags |= narrowed;
  const Number number = add(world, part, false);
  world.emit(MakeSubBuffer{number, *parent, narrows ? narrowed : 0, origin, part.bytes});
}

void make_image(World& world, Number context) {
  if (!world.can.images || world.contexts[context].on_part || !has_room(world, context)) return;
  static const std::vector<cl_mem_object_type> types = {
      CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
      CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};
  Random& random = world.random;
  Memory image{.context = context, .shape = Shape::kImage, .flags = any_access(random) | any_place(random)};
  image.type = random.of(types);
  image.size = any_image_size(random, image.type);
  image.normalized = image.type == CL_MEM_OBJECT_IMAGE2D && random.one_in(2) && !world.can.only_portable;
  choose_format(random, image);
  image.bytes = image.pixel * image.size[0] * image.size[1] * image.size[2];
  const Number number = add(world, image);
  world.emit(MakeImage{number, context, image.flags, kFormats[image.format].format, image.type, image.size,
                       world.new_data(image.bytes), kNone});
  if (!has_contents(image.flags)) fill_image(world, number);
}

void make_image_of_buffer(World& world, Number context) {
  if (!world.can.images || world.contexts[context].on_part || !has_room(world, context)) return;
  const auto buffer = world.any_memory(context, Shape::kBuffer, CL_MEM_USE_HOST_PTR, 16);
  if (!buffer || world.memories[*buffer].is_part) return;
  Memory image = world.memories[*buffer];
  choose_format(world.random, image);
  image.shape = Shape::kImage;
  image.type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  image.size = {std::min<std::size_t>(image.bytes / image.pixel, 4096), 1, 1};
  image.bytes = image.size[0] * image.pixel;
  const Number number = add(world, image, false);
  world.emit(
      MakeImage{number, context, 0, kFormats[image.format].format, image.type, image.size, {}, *buffer});
}

void make_sampler(World& world, Number context) {
  SamplerModel sampler{context, world.random.one_in(2), true};
  static const std::vector<cl_addressing_mode> anywhere = {CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE};
  static const std::vector<cl_addressing_mode> normalized = {CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT,
                                                             CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE};
  const bool by_fractions = !sampler.exact && world.random.one_in(2);
  const auto number = static_cast<Number>(world.samplers.size());
  world.samplers.push_back(sampler);
  world.emit(
      MakeSampler{number, context, by_fractions, world.random.of(by_fractions ? normalized : anywhere),
                  static_cast<cl_filter_mode>(sampler.exact || world.random.one_in(2) ? CL_FILTER_NEAREST
                                                                                      : CL_FILTER_LINEAR)});
}

void make_svm(World& world, Number context) {
  if (!world.can.svm || !has_room(world, context)) return;
  const auto queue = world.any_queue(context);
  if (!queue) return;
  const std::size_t bytes = any_bytes(world.random);
  const Number number = add(world, {.context = context, .shape = Shape::kSvm, .bytes = bytes});
  world.emit(MakeSvm{number, context, bytes});
  world.enqueue(*queue, SvmFill{number, 0, bytes, world.new_data(4)},
                {{world.memories[number].storage, true}});
}

void release_memory(World& world, Number context) {
  static const std::vector<Shape> shapes = {Shape::kBuffer, Shape::kBuffer, Shape::kImage, Shape::kSvm};
  const Shape shape = world.random.of(shapes);
  const auto memory = world.any_memory(context, shape, 0);
  if (!memory) return;
  for (const RecordingModel& each : world.recordings) {
    if (each.held && std::find(each.memories.begin(), each.memories.end(), *memory) != each.memories.end())
      return;
  }
  if (shape == Shape::kSvm) {
    const auto queue = world.any_queue(context);
    if (!queue) return;
    world.enqueue(*queue, SvmFree{*memory}, {{world.memories[*memory].storage, true}});
  } else {
    world.emit(Release{Kind::kMemory, *memory});
  }
  world.memories[*memory].held = false;
}

void release_sampler(World& world, Number context) {
  std::vector<Number> held;
  for (std::size_t i = 0; i < world.samplers.size(); ++i)
    if (world.samplers[i].held && world.samplers[i].context == context)
      held.push_back(static_cast<Number>(i));
  if (held.size() < 2) return;
  const Number sampler = world.random.of(held);
  world.emit(Release{Kind::kSampler, sampler});
  world.samplers[sampler].held = false;
}

}  // namespace fairgv::moves
