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

/// The initial limits of NVIDIA's driver. Here only the printf ring is bounded; the other limits are only
/// stored.
const std::map<CUlimit, std::size_t>& first_limits() {
  static const std::map<CUlimit, std::size_t> kLimits{{CU_LIMIT_STACK_SIZE, 1024},
                                                      {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 20U},
                                                      {CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{8} << 20U}};
  return kLimits;
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
  const auto first = first_limits().find(which);
  if (first == first_limits().end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const std::lock_guard guard(limits_lock_);
  value = first->second;
  const auto set = limits_.find(context.id());
  if (set == limits_.end()) return CUDA_SUCCESS;
  if (const auto found = set->second.find(which); found != set->second.end()) value = found->second;
  return CUDA_SUCCESS;
}

CUresult Engine::set_limit(Context& context, CUlimit which, std::size_t value) {
  if (!first_limits().contains(which)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const std::lock_guard guard(limits_lock_);
  limits_[context.id()][which] = value;
  return CUDA_SUCCESS;
}

CUresult Engine::make_storage(Context&, const MemoryWish& wish, Allocation& allocation) {
  DeviceMemory memory = opencl->allocate(wish.size);
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
  array.storage = std::make_unique<OwnedMemory>(std::move(memory));
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
