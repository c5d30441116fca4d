#include "cuda-shim/api/memory/mapped.hpp"

#include "cuda-shim/api/context.hpp"

namespace fairgv::cuda {

CUresult device_address(const Driver& driver, const Context& context, const Allocation& allocation,
                        std::uint64_t address, CUdeviceptr& on_device) {
  on_device = address;
  const std::uint64_t offset = address - allocation.begin;
  if (allocation.kind != MemoryKind::registered) {
    on_device = allocation.begin_on_device + offset;
    return CUDA_SUCCESS;
  }
  constexpr auto kSameAddress = CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM;
  if (driver.engine.attribute(context.device(), kSameAddress) != 0) return CUDA_SUCCESS;
  const auto mapped = driver.memory.mapped(allocation, context.group()->owner());
  if (!mapped) return CUDA_ERROR_NOT_SUPPORTED;
  on_device = mapped->begin_on_device + offset;
  return CUDA_SUCCESS;
}

CUresult map_address(Driver& driver, Context& context, const Allocation& allocation, std::uint64_t address,
                     CUdeviceptr& on_device) {
  const CUresult known = device_address(driver, context, allocation, address, on_device);
  if (known != CUDA_ERROR_NOT_SUPPORTED) return known;
  auto made = std::make_shared<Allocation>();
  made->size = allocation.size;
  made->kind = MemoryKind::mapped;
  made->flags = allocation.flags;
  made->context = context.handle();
  made->device = context.device();
  made->program_begin = allocation.begin;
  if (const CUresult code = driver.engine.map_registered(context, allocation, *made); code != CUDA_SUCCESS)
    return code;
  const auto entered = driver.memory.enter_mapped(allocation, made);
  if (!entered) return CUDA_ERROR_INVALID_VALUE;
  on_device = entered->begin_on_device + (address - allocation.begin);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
