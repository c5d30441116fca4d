#include "cuda-shim/api/memory/opened.hpp"

#include <algorithm>
#include <cstring>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/sharing.hpp"

namespace fairgv::cuda {

CUresult OpenedMemory::open(Driver& driver, Context& context, const CUipcMemHandle& handle,
                            CUdeviceptr& address) {
  const std::lock_guard guard(lock_);
  std::erase_if(opened_, [](const Opened& opened) { return opened.allocation.expired(); });
  for (Opened& opened : opened_) {
    const auto allocation = opened.allocation.lock();
    if (!allocation || allocation->context != context.handle() ||
        std::memcmp(&opened.handle, &handle, sizeof handle) != 0) {
      continue;
    }
    ++opened.times;
    address = allocation->begin;
    return CUDA_SUCCESS;
  }
  auto made = std::make_shared<Allocation>();
  made->kind = MemoryKind::opened;
  made->context = context.handle();
  made->device = context.device();
  if (const CUresult code = driver.engine.memory_sharing().open_exported(context, handle, *made);
      code != CUDA_SUCCESS)
    return code;
  driver.memory.add(made);
  opened_.push_back({handle, made});
  address = made->begin;
  return CUDA_SUCCESS;
}

CUresult OpenedMemory::close(Driver& driver, CUdeviceptr address) {
  std::shared_ptr<Allocation> last;
  {
    const std::lock_guard guard(lock_);
    const auto found = std::find_if(opened_.begin(), opened_.end(), [&](const Opened& opened) {
      const auto allocation = opened.allocation.lock();
      return allocation && allocation->begin == address;
    });
    if (found == opened_.end()) return CUDA_ERROR_INVALID_VALUE;
    if (--found->times != 0) return CUDA_SUCCESS;
    last = found->allocation.lock();
    opened_.erase(found);
  }
  // Work that may still use it comes first, as when memory is freed.
  if (const auto owner = last ? driver.contexts.find(last->context) : nullptr)
    driver.scheduler.synchronize(*owner->group());
  if (last) driver.memory.remove(*last);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
