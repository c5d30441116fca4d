#include "cuda-shim/softcuda/driver/engine.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/ranges.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

/// What NVIDIA's driver answers at first. They bound nothing here but the printf ring, so they are only kept.
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

void Engine::stop() {
  // Kernels under way use OpenCL's threads and tables, which exit() is about to take apart.
  constexpr std::chrono::milliseconds kPatience{2000};
  OpenClDevice::abandon_queues();
  scheduler.shutdown(kPatience);
}

int Engine::version() {
  return kDriverVersion;
}

CUresult Engine::memory_info(Context& context, std::uint64_t used, std::size_t& free,
                             std::size_t& total) const {
  total = device_memory(context.device());
  free = total - used;
  return CUDA_SUCCESS;
}

CUresult Engine::make_group(CUcontext owner, CUdevice, bool, unsigned, std::shared_ptr<StreamGroup>& group) {
  group = scheduler.make_group(owner);
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
  allocation.storage = opencl->allocate(wish.size);
  if (!allocation.storage) return CUDA_ERROR_OUT_OF_MEMORY;
  allocation.begin = allocation.storage.address();
  if (wish.rows != 0) allocation.pitch = wish.size / wish.rows;
  return CUDA_SUCCESS;
}

CUresult Engine::make_array(Context&, std::uint64_t bytes, Array& array) {
  array.storage = opencl->allocate(bytes);
  return array.storage ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void free_in_order(Driver& driver, const std::shared_ptr<Stream>& stream,
                   const std::shared_ptr<Allocation>& allocation) {
  driver.scheduler.submit(
      *stream,
      [&driver, allocation] {
        driver.memory.remove(*allocation);
        discharge_pool(driver, *allocation);
        return CUDA_SUCCESS;
      },
      {}, true);
}

}  // namespace fairgv::cuda
