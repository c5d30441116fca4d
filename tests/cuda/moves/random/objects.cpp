// Memory, modules and images of a random CUDA program.
#include <algorithm>
#include <string>
#include <utility>

#include "tests/cuda/moves/random/deeds.hpp"
#include "tests/cuda/moves/random/kernels.hpp"

namespace fairgv::moves::cuda {
namespace {

constexpr std::size_t kMostBuffers = 24;
constexpr std::size_t kMostModules = 4;
constexpr std::size_t kMostImages = 4;
constexpr std::uint32_t kMostNumbers = 6'000;
/// Different modules that there are: translating one takes long.
constexpr std::uint64_t kSalts = 4;

CUmemAllocationProp device_memory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  return properties;
}

void map_buffer(Buffer& buffer) {
  const CUmemAllocationProp properties = device_memory();
  std::size_t unit = 0;
  FAIRGV_CHECKED(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  buffer.mapped_bytes = (buffer.bytes() + unit - 1) / unit * unit;
  FAIRGV_CHECKED(cuMemAddressReserve(&buffer.address, buffer.mapped_bytes, 0, 0, 0));
  FAIRGV_CHECKED(cuMemCreate(&buffer.physical, buffer.mapped_bytes, &properties, 0));
  FAIRGV_CHECKED(cuMemMap(buffer.address, buffer.mapped_bytes, 0, buffer.physical, 0));
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  FAIRGV_CHECKED(cuMemSetAccess(buffer.address, buffer.mapped_bytes, &access, 1));
}

void unmap_buffer(const Buffer& buffer) {
  FAIRGV_CHECKED(cuMemUnmap(buffer.address, buffer.mapped_bytes));
  FAIRGV_CHECKED(cuMemRelease(buffer.physical));
  FAIRGV_CHECKED(cuMemAddressFree(buffer.address, buffer.mapped_bytes));
}

/// All but memory of a stream, which a command makes.
void allocate(Buffer& buffer) {
  switch (buffer.kind) {
    case Buffer::Kind::managed:
      FAIRGV_CHECKED(cuMemAllocManaged(&buffer.address, buffer.bytes(), CU_MEM_ATTACH_GLOBAL));
      buffer.host = reinterpret_cast<std::uint32_t*>(buffer.address);
      break;
    case Buffer::Kind::pinned: {
      void* host = nullptr;
      FAIRGV_CHECKED(cuMemHostAlloc(&host, buffer.bytes(), CU_MEMHOSTALLOC_DEVICEMAP));
      FAIRGV_CHECKED(cuMemHostGetDevicePointer(&buffer.address, host, 0));
      buffer.host = static_cast<std::uint32_t*>(host);
      break;
    }
    case Buffer::Kind::mapped:
      map_buffer(buffer);
      break;
    default:
      FAIRGV_CHECKED(cuMemAlloc(&buffer.address, buffer.bytes()));
  }
}

void free_now(World& world, Buffer& buffer) {
  world.begin_on_host(buffer, true);
  if (buffer.kind == Buffer::Kind::pinned) {
    FAIRGV_CHECKED(cuMemFreeHost(buffer.host));
  } else if (buffer.kind == Buffer::Kind::mapped) {
    unmap_buffer(buffer);
  } else {
    FAIRGV_CHECKED(cuMemFree(buffer.address));
  }
}

void destroy(World& world, Image& image) {
  world.begin_on_host(image, true);
  FAIRGV_CHECKED(cuTexObjectDestroy(image.texture));
  FAIRGV_CHECKED(cuSurfObjectDestroy(image.surface));
  FAIRGV_CHECKED(cuArrayDestroy(image.array));
}

void unload(World& world, Module& module) {
  world.begin_on_host(module, true);
  if (module.placed) --module.placed->holders;
  FAIRGV_CHECKED(cuModuleUnload(module.module));
}

template <class T>
void forget(std::vector<std::shared_ptr<T>>& all, const std::shared_ptr<T>& gone) {
  all.erase(std::remove(all.begin(), all.end(), gone), all.end());
}

/// By way of the linker.
void load_linked(CUmodule& module, std::string text) {
  CUlinkState linking = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  FAIRGV_CHECKED(cuLinkCreate(0, nullptr, nullptr, &linking));
  FAIRGV_CHECKED(
      cuLinkAddData(linking, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "random", 0, nullptr, nullptr));
  FAIRGV_CHECKED(cuLinkComplete(linking, &image, &bytes));
  FAIRGV_CHECKED(cuModuleLoadData(&module, image));
  FAIRGV_CHECKED(cuLinkDestroy(linking));
}

}  // namespace

void make_buffer(World& world) {
  if (world.buffers.size() == kMostBuffers) return;
  constexpr std::array kKinds{Buffer::Kind::device,  Buffer::Kind::device, Buffer::Kind::device,
                              Buffer::Kind::managed, Buffer::Kind::pinned, Buffer::Kind::of_stream,
                              Buffer::Kind::mapped};
  const auto buffer = std::make_shared<Buffer>();
  buffer->kind = kKinds.at(world.random.below(kKinds.size()));
  buffer->numbers = static_cast<std::uint32_t>(world.random.between(1, kMostNumbers));
  const auto first = static_cast<std::uint32_t>(world.random.next());
  const Number stream = world.any_stream();
  if (buffer->kind == Buffer::Kind::of_stream) {
    world.begin(stream, {}, {buffer});
    FAIRGV_CHECKED(cuMemAllocAsync(&buffer->address, buffer->bytes(), world.handle(stream)));
  } else {
    world.open_gates();
    allocate(*buffer);
  }
  world.begin(stream, {}, {buffer});
  FAIRGV_CHECKED(cuMemsetD32Async(buffer->address, first, buffer->numbers, world.handle(stream)));
  world.buffers.push_back(buffer);
}

void free_buffer(World& world) {
  const auto buffer = world.any_free(world.buffers);
  if (!buffer) return;
  forget(world.buffers, buffer);
  const bool in_order = buffer->kind == Buffer::Kind::of_stream ||
                        (buffer->kind == Buffer::Kind::device && world.random.one_in(3));
  if (!in_order) return free_now(world, *buffer);
  const Number stream = world.any_stream();
  world.begin(stream, {}, {buffer});
  FAIRGV_CHECKED(cuMemFreeAsync(buffer->address, world.handle(stream)));
}

void make_module(World& world) {
  if (world.modules.size() == kMostModules) return;
  const auto module = std::make_shared<Module>();
  const std::string text = kernels(static_cast<std::uint32_t>(world.random.below(kSalts)));
  world.open_gates();
  if (world.random.one_in(3)) {
    load_linked(module->module, text);
  } else {
    FAIRGV_CHECKED(cuModuleLoadData(&module->module, text.c_str()));
  }
  std::size_t bytes = 0;
  FAIRGV_CHECKED(cuModuleGetGlobal(&module->counter, &bytes, module->module, "counter"));
  FAIRGV_CHECKED(cuModuleGetGlobal(&module->constant, &bytes, module->module, "constant"));
  world.modules.push_back(module);
}

void unload_module(World& world) {
  const auto module = world.any_free(world.modules);
  if (!module || world.modules.size() == 1) return;
  forget(world.modules, module);
  unload(world, *module);
}

void make_image(World& world) {
  if (world.images.size() == kMostImages) return;
  const auto image = std::make_shared<Image>();
  image->height = static_cast<unsigned>(world.random.between(1, 40));
  world.open_gates();
  CUDA_ARRAY3D_DESCRIPTOR layout{};
  layout.Width = kImageWidth;
  layout.Height = image->height;
  layout.Format = CU_AD_FORMAT_UNSIGNED_INT32;
  layout.NumChannels = 1;
  layout.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  FAIRGV_CHECKED(cuArray3DCreate(&image->array, &layout));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = image->array;
  FAIRGV_CHECKED(cuSurfObjectCreate(&image->surface, &resource));
  CUDA_TEXTURE_DESC reading{};
  reading.flags = CU_TRSF_READ_AS_INTEGER;
  FAIRGV_CHECKED(cuTexObjectCreate(&image->texture, &resource, &reading, nullptr));
  std::vector<std::uint32_t> texels(std::size_t{kImageWidth} * image->height);
  for (std::uint32_t& texel : texels) texel = static_cast<std::uint32_t>(world.random.next());
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels.data();
  copy.srcPitch = copy.WidthInBytes = kImageWidth * sizeof(std::uint32_t);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = image->array;
  copy.Height = image->height;
  world.begin(kDefaultStream, {}, {image});
  FAIRGV_CHECKED(cuMemcpy2D(&copy));
  world.images.push_back(image);
}

void destroy_image(World& world) {
  const auto image = world.any_free(world.images);
  if (!image) return;
  forget(world.images, image);
  destroy(world, *image);
}

void release_everything(World& world) {
  world.synchronize_all();
  for (const auto& graph : world.graphs) destroy(world, *graph);
  for (const auto& module : world.modules) unload(world, *module);
  for (const auto& image : world.images) destroy(world, *image);
  for (const auto& buffer : world.buffers) free_now(world, *buffer);
  world.graphs.clear();
  world.modules.clear();
  world.images.clear();
  world.buffers.clear();
}

}  // namespace fairgv::moves::cuda
