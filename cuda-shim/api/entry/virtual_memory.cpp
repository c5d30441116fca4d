// Entry points: virtual memory management (CUDA Driver API, the section of that name). None needs a context.
// Handles cannot be exported (unserved.cpp).
#include "cuda-shim/api/memory/virtual/virtual_memory.hpp"

#include <algorithm>

#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

bool is_on_host(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

/// A place that is memory of a device.
CUresult check_location(const Driver& driver, const CUmemLocation& location) {
  if (is_on_host(location.type)) return CUDA_ERROR_NOT_SUPPORTED;
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  return driver.has_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult check_properties(const Driver& driver, const CUmemAllocationProp& properties) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  const bool is_exported = properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
  if (is_exported && properties.location.type == CU_MEM_LOCATION_TYPE_HOST) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = check_location(driver, properties.location); code != CUDA_SUCCESS) return code;
  // A wish that a device attribute says no to. That memory be compressible is only a hint.
  const bool is_refused =
      is_exported || properties.allocFlags.gpuDirectRDMACapable != 0 || properties.allocFlags.usage != 0;
  return is_refused ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

/// Commands may use what is about to be unmapped: as when memory is freed, they end first.
void wait_for_all(Driver& driver) {
  for (const auto& context : driver.contexts.all()) driver.scheduler.synchronize(*context->group());
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr* address, std::size_t size, std::size_t alignment,
                                     CUdeviceptr wanted, unsigned long long flags) {
  return initialized([=](Driver& driver) {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver.virtual_memory.reserve({size, alignment, wanted}, *address);
  });
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr address, std::size_t size) {
  return initialized([=](Driver& driver) { return driver.virtual_memory.free(address, size); });
}

CUresult CUDAAPI cuMemGetAllocationGranularity(std::size_t* granularity,
                                               const CUmemAllocationProp* properties,
                                               CUmemAllocationGranularity_flags which) {
  return initialized([=](Driver& driver) {
    if (granularity == nullptr || properties == nullptr || which > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult code = check_properties(driver, *properties); code != CUDA_SUCCESS) return code;
    return driver.virtual_memory.granularity(properties->location.id, which, *granularity);
  });
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                             const CUmemAllocationProp* wish, unsigned long long flags) {
  return initialized([=](Driver& driver) {
    if (handle == nullptr || wish == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult code = check_properties(driver, *wish); code != CUDA_SUCCESS) return code;
    CUmemAllocationProp properties = *wish;
    properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    const std::uint64_t most = driver.description(wish->location.id).allocatable;
    return driver.virtual_memory.create(properties, size, most, *handle);
  });
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle) {
  return initialized([=](Driver& driver) { return driver.virtual_memory.release(handle); });
}

CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return initialized([=](Driver& driver) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return driver.virtual_memory.retain(reinterpret_cast<CUdeviceptr>(address), *handle);
  });
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                        CUmemGenericAllocationHandle handle) {
  return initialized([=](Driver& driver) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return driver.virtual_memory.properties(handle, *properties);
  });
}

CUresult CUDAAPI cuMemMap(CUdeviceptr address, std::size_t size, std::size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return initialized([=](Driver& driver) {
    // "Note: currently must be zero" (cuMemMap, of the offset).
    if (offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver.virtual_memory.map(address, size, handle);
  });
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr address, std::size_t size) {
  return initialized([=](Driver& driver) {
    wait_for_all(driver);
    return driver.virtual_memory.unmap(address, size);
  });
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, std::size_t size, const CUmemAccessDesc* wishes,
                                std::size_t count) {
  return initialized([=](Driver& driver) {
    if (wishes == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const std::span<const CUmemAccessDesc> all(wishes, count);
    for (const CUmemAccessDesc& wish : all) {
      if (const CUresult code = check_location(driver, wish.location); code != CUDA_SUCCESS) return code;
      if (wish.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && wish.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
          wish.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    const bool takes = std::any_of(all.begin(), all.end(), [](const CUmemAccessDesc& wish) {
      return wish.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    });
    if (takes) wait_for_all(driver);
    return driver.virtual_memory.set_access(address, size, all);
  });
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                CUdeviceptr address) {
  return initialized([=](Driver& driver) {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult code = check_location(driver, *location); code != CUDA_SUCCESS) return code;
    CUmemAccess_flags found = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const CUresult code = driver.virtual_memory.access(address, location->id, found);
    if (code == CUDA_SUCCESS) *flags = static_cast<unsigned long long>(found);
    return code;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
