#include "tests/cuda/moves/random/commands.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/cuda/moves/random/kernels.hpp"

namespace fairgv::moves::cuda {
namespace {

constexpr std::uint32_t kMostRounds = 3'000;

unsigned blocks_for(std::uint32_t numbers) {
  return (numbers + kBlock - 1) / kBlock;
}

template <class... Arguments>
std::function<void(CUstream)> launch(CUfunction function, unsigned blocks, unsigned threads,
                                     Arguments... arguments) {
  return [function, blocks, threads, all = std::tuple(arguments...)](CUstream stream) mutable {
    std::apply(
        [&](auto&... each) {
          void* pointers[] = {&each...};
          FAIRGV_CHECKED(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, nullptr));
        },
        all);
  };
}

using MaybeCommand = std::optional<Command>;

std::shared_ptr<Buffer> any_buffer(World& world) {
  return world.buffers.empty() ? nullptr : world.random.of(world.buffers);
}
std::shared_ptr<Module> any_module(World& world) {
  return world.modules.empty() ? nullptr : world.random.of(world.modules);
}

/// Two that are not the same.
std::optional<std::pair<std::shared_ptr<Buffer>, std::shared_ptr<Buffer>>> two_buffers(World& world) {
  const auto first = any_buffer(world), second = any_buffer(world);
  if (first == nullptr || first == second) return std::nullopt;
  return std::pair(first, second);
}

MaybeCommand mix(World& world) {
  const auto module = any_module(world);
  const auto data = any_buffer(world);
  if (!module || !data) return std::nullopt;
  const auto factor = static_cast<std::uint32_t>(world.random.next()) | 1U;
  return Command{launch(module->function("mix"), blocks_for(data->numbers), kBlock, data->address,
                        data->numbers, factor),
                 {module},
                 {data}};
}

MaybeCommand work(World& world) {
  const auto module = any_module(world);
  const auto data = any_buffer(world);
  if (!module || !data) return std::nullopt;
  const auto rounds = static_cast<std::uint32_t>(world.random.below(kMostRounds));
  return Command{launch(module->function("work"), blocks_for(data->numbers), kBlock, data->address,
                        data->numbers, rounds),
                 {module},
                 {data}};
}

MaybeCommand combine(World& world) {
  const auto module = any_module(world);
  const auto two = two_buffers(world);
  if (!module || !two) return std::nullopt;
  const auto& [out, in] = *two;
  const std::uint32_t numbers = std::min(out->numbers, in->numbers);
  const auto step = static_cast<std::uint32_t>(world.random.between(1, 97));
  return Command{launch(module->function("combine"), blocks_for(numbers), kBlock, out->address, in->address,
                        numbers, step),
                 {module, in},
                 {out}};
}

MaybeCommand reduce(World& world) {
  const auto module = any_module(world);
  const auto two = two_buffers(world);
  if (!module || !two) return std::nullopt;
  const auto& [out, in] = *two;
  return Command{launch(module->function("reduce"), blocks_for(in->numbers), kBlock, out->address,
                        in->address, in->numbers),
                 {module, in},
                 {out}};
}

MaybeCommand bump(World& world) {
  const auto module = any_module(world);
  if (!module) return std::nullopt;
  const auto amount = static_cast<std::uint32_t>(world.random.below(1'000));
  const auto blocks = static_cast<unsigned>(world.random.between(1, 20));
  return Command{launch(module->function("bump"), blocks, kBlock, amount), {}, {module}};
}

MaybeCommand recall(World& world) {
  const auto module = any_module(world);
  if (!module || !module->placed) return std::nullopt;
  const auto factor = static_cast<std::uint32_t>(world.random.next()) | 1U;
  const std::shared_ptr<Buffer> data = module->placed;
  return Command{launch(module->function("recall"), blocks_for(data->numbers), kBlock, data->numbers, factor),
                 {module},
                 {data}};
}

MaybeCommand paint(World& world) {
  const auto module = any_module(world);
  if (!module || world.images.empty()) return std::nullopt;
  const auto image = world.random.of(world.images);
  const auto factor = static_cast<std::uint32_t>(world.random.below(1'000));
  return Command{launch(module->function("paint"), image->height, kImageWidth, image->surface, factor),
                 {module},
                 {image}};
}

MaybeCommand look_at_image(World& world) {
  const auto module = any_module(world);
  const auto out = any_buffer(world);
  if (!module || !out || world.images.empty()) return std::nullopt;
  const auto image = world.random.of(world.images);
  const unsigned rows = std::min(image->height, out->numbers / kImageWidth);
  if (rows == 0) return std::nullopt;
  return Command{launch(module->function("look"), rows, kImageWidth, image->texture, out->address),
                 {module, image},
                 {out}};
}

MaybeCommand say(World& world) {
  const auto module = any_module(world);
  if (!module) return std::nullopt;
  return Command{launch(module->function("say"), 1, 1, world.said++), {module}, {}};
}

MaybeCommand fill(World& world) {
  const auto data = any_buffer(world);
  if (!data) return std::nullopt;
  const std::size_t first = world.random.below(data->numbers);
  const std::size_t count = world.random.between(1, data->numbers - first);
  const auto value = static_cast<std::uint32_t>(world.random.next());
  const bool as_bytes = world.random.one_in(3);
  const CUdeviceptr from = data->address + first * sizeof(std::uint32_t);
  return Command{[=](CUstream stream) {
                   if (as_bytes) {
                     FAIRGV_CHECKED(cuMemsetD8Async(from, static_cast<unsigned char>(value),
                                                    count * sizeof(std::uint32_t), stream));
                   } else {
                     FAIRGV_CHECKED(cuMemsetD32Async(from, value, count, stream));
                   }
                 },
                 {},
                 {data}};
}

MaybeCommand copy(World& world) {
  const auto two = two_buffers(world);
  if (!two) return std::nullopt;
  const auto& [to, from] = *two;
  const std::size_t count = world.random.between(1, std::min(to->numbers, from->numbers));
  const std::size_t bytes = count * sizeof(std::uint32_t);
  const CUdeviceptr target = to->address + (to->bytes() - bytes);
  return Command{[target, source = from->address, bytes](CUstream stream) {
                   FAIRGV_CHECKED(cuMemcpyAsync(target, source, bytes, stream));
                 },
                 {from},
                 {to}};
}

/// Rows of a buffer, to or from an image or another buffer.
MaybeCommand copy_rows(World& world) {
  const auto data = any_buffer(world);
  if (!data || world.images.empty()) return std::nullopt;
  const auto image = world.random.of(world.images);
  const unsigned rows = std::min(image->height, data->numbers / kImageWidth);
  if (rows == 0) return std::nullopt;
  CUDA_MEMCPY2D rect{};
  rect.WidthInBytes = kImageWidth * sizeof(std::uint32_t);
  rect.Height = world.random.between(1, rows);
  const bool to_image = world.random.one_in(2);
  if (to_image) {
    rect.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    rect.srcDevice = data->address;
    rect.srcPitch = rect.WidthInBytes;
    rect.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    rect.dstArray = image->array;
  } else {
    rect.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    rect.srcArray = image->array;
    rect.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rect.dstDevice = data->address;
    rect.dstPitch = rect.WidthInBytes;
  }
  Command command{[rect](CUstream stream) { FAIRGV_CHECKED(cuMemcpy2DAsync(&rect, stream)); }, {}, {}};
  if (to_image) {
    command.reads = {data};
    command.writes = {image};
  } else {
    command.reads = {image};
    command.writes = {data};
  }
  return command;
}

void CUDA_CB count_on(void* cell) {
  auto& value = static_cast<Cell*>(cell)->value;
  value = value * 1'103'515'245U + 12'345U;
}

MaybeCommand call_host(World& world) {
  const std::shared_ptr<Cell> cell = world.random.of(world.cells);
  return Command{[cell](CUstream stream) { FAIRGV_CHECKED(cuLaunchHostFunc(stream, count_on, cell.get())); },
                 {},
                 {cell}};
}

struct Kind {
  MaybeCommand (*make)(World& world);
  std::size_t weight;
};

const std::vector<Kind> kKinds{{mix, 12},   {work, 12},     {combine, 10},      {reduce, 6}, {bump, 5},
                               {recall, 6}, {paint, 6},     {look_at_image, 6}, {say, 1},    {fill, 6},
                               {copy, 8},   {copy_rows, 6}, {call_host, 5}};

}  // namespace

MaybeCommand any_command(World& world) {
  std::size_t all = 0;
  for (const Kind& each : kKinds) all += each.weight;
  std::size_t at = world.random.below(all);
  for (const Kind& each : kKinds) {
    if (at < each.weight) return each.make(world);
    at -= each.weight;
  }
  return std::nullopt;
}

CUDA_KERNEL_NODE_PARAMS Work::node(void** arguments) {
  arguments[0] = &data;
  arguments[1] = &numbers;
  arguments[2] = &rounds;
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = function;
  parameters.gridDimX = blocks_for(numbers);
  parameters.blockDimX = kBlock;
  parameters.gridDimY = parameters.gridDimZ = parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.kernelParams = arguments;
  return parameters;
}

}  // namespace fairgv::moves::cuda
