// The results of a random CUDA program.
#include <vector>

#include "tests/cuda/moves/random/deeds.hpp"
#include "tests/cuda/moves/random/kernels.hpp"

namespace fairgv::moves::cuda {
namespace {

void look_at(World& world, const Buffer& buffer) {
  world.begin_on_host(buffer, false);
  if (buffer.host != nullptr && world.random.one_in(2)) {
    if (buffer.kind == Buffer::Kind::managed) world.synchronize_all();
    return world.results.add(buffer.host, buffer.bytes());
  }
  std::vector<std::uint32_t> found(buffer.numbers);
  FAIRGV_CHECKED(cuMemcpyDtoH(found.data(), buffer.address, buffer.bytes()));
  world.results.add(found.data(), buffer.bytes());
}

void look_at(World& world, const Image& image) {
  world.begin_on_host(image, false);
  std::vector<std::uint32_t> found(std::size_t{kImageWidth} * image.height);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = image.array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = found.data();
  copy.dstPitch = copy.WidthInBytes = kImageWidth * sizeof(std::uint32_t);
  copy.Height = image.height;
  FAIRGV_CHECKED(cuMemcpy2D(&copy));
  world.results.add(found.data(), found.size() * sizeof(std::uint32_t));
}

void look_at(World& world, const Module& module) {
  world.begin_on_host(module, false);
  std::uint32_t counter = 0;
  FAIRGV_CHECKED(cuMemcpyDtoH(&counter, module.counter, sizeof(counter)));
  world.results.add_value(counter);
}

void look_at(World& world, const Cell& cell) {
  world.begin_on_host(cell, false);
  world.results.add_value(cell.value);
}

}  // namespace

void look(World& world) {
  if (!world.buffers.empty() && !world.random.one_in(3))
    return look_at(world, *world.random.of(world.buffers));
  if (!world.images.empty() && world.random.one_in(2)) return look_at(world, *world.random.of(world.images));
  if (!world.modules.empty() && world.random.one_in(2))
    return look_at(world, *world.random.of(world.modules));
  look_at(world, *world.random.of(world.cells));
}

void look_at_all(World& world) {
  for (const auto& each : world.buffers) look_at(world, *each);
  for (const auto& each : world.images) look_at(world, *each);
  for (const auto& each : world.modules) look_at(world, *each);
  for (const auto& each : world.cells) look_at(world, *each);
  world.results.print_check();
}

}  // namespace fairgv::moves::cuda
