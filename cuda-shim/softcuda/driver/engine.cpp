#include "cuda-shim/softcuda/driver/engine.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/softcuda/driver/device/description.hpp"
#include "cuda-shim/softcuda/driver/storage.hpp"

namespace fairgv::cuda::soft {
namespace {

ContextResources& resources_of(const Context& context) {
  return static_cast<StreamGroup&>(*context.group()).resources();
}

}  // namespace

void say_if_verbose(const std::string& line) {
  const char* const asked = std::getenv("FAIRGV_SOFTCUDA_VERBOSE");
  if (asked != nullptr && *asked != '\0') std::fprintf(stderr, "%s: %s\n", kEngineName, line.c_str());
}

CUresult Engine::open(Opened& opened) {
  auto device = OpenClDevice::open();
  if (!device) {
    say_if_verbose(device.error().message);
    return CUDA_ERROR_NO_DEVICE;
  }
  opened = std::move(device).value();
  return CUDA_SUCCESS;
}

Engine::Engine(Opened opened) : opencl(std::move(opened)), descriptions_{describe(opencl->facts())} {}

void Engine::stop() {
  // Kernels under way use OpenCL's threads and tables, which exit() is about to destroy.
  constexpr std::chrono::milliseconds kPatience{2000};
  OpenClDevice::abandon_queues();
  exports_.stop();
  operations.shutdown(kPatience);
}

int Engine::version() const {
  return kDriverVersion;
}

CUresult Engine::memory_info(Context& context, std::uint64_t used, std::size_t& free, std::size_t& total) {
  total = descriptions_[static_cast<std::size_t>(context.device())].memory;
  free = total - used;
  return CUDA_SUCCESS;
}

CUresult Engine::make_group(CUcontext owner, CUdevice, bool, unsigned,
                            std::shared_ptr<cuda::StreamGroup>& group) {
  group = operations.make_group(owner);
  return CUDA_SUCCESS;
}

CUresult Engine::limit(Context& context, CUlimit which, std::size_t& value) {
  return resources_of(context).limit(which, value);
}

CUresult Engine::set_limit(Context& context, CUlimit which, std::size_t value) {
  return resources_of(context).set_limit(which, value);
}

CUresult Engine::make_storage(Context&, const MemoryWish& wish, Allocation& allocation) {
  DeviceMemory memory = opencl->allocate_for_programs(wish.size, wish.kind == MemoryKind::device);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  allocation.begin = memory.address();
  allocation.begin_on_device = memory.address();
  allocation.storage = std::make_unique<OwnedMemory>(std::move(memory));
  if (wish.rows != 0) allocation.pitch = wish.size / wish.rows;
  return CUDA_SUCCESS;
}

CUresult Engine::make_array(Context&, std::uint64_t bytes, Array& array) {
  DeviceMemory memory = opencl->allocate(bytes);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  array.storage = std::make_unique<ArrayMemory>(std::make_shared<const DeviceMemory>(std::move(memory)), 0);
  return CUDA_SUCCESS;
}

CUresult Engine::make_mipmap(Context&, Mipmap& mipmap) {
  constexpr std::size_t kApart =
      64;  // a level begins at a multiple of any element, and in a cache line of its own
  std::size_t bytes = 0;
  std::vector<std::size_t> offsets;
  for (const auto& level : mipmap.levels) {
    offsets.push_back(bytes);
    std::size_t rounded = 0;
    if (__builtin_add_overflow(level->bytes(), kApart - 1, &rounded) ||
        __builtin_add_overflow(bytes, rounded / kApart * kApart, &bytes)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  DeviceMemory memory = opencl->allocate(bytes);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto all = std::make_shared<const DeviceMemory>(std::move(memory));
  for (std::size_t level = 0; level < offsets.size(); ++level)
    mipmap.levels[level]->storage = std::make_unique<ArrayMemory>(all, offsets[level]);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft

namespace fairgv::cuda {

CUresult open_engine(std::unique_ptr<Engine>& engine) {
  soft::Engine::Opened opened;
  if (const CUresult code = soft::Engine::open(opened); code != CUDA_SUCCESS) return code;
  engine = std::make_unique<soft::Engine>(std::move(opened));
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
