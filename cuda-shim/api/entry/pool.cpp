// Entry points: pools of memory (CUDA Driver API, "Stream Ordered Memory Allocator"); allocation itself is in
// stream/memory.cpp.
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/memory/ranges.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

template <typename Body>
CUresult on_pool(CUmemoryPool handle, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    const auto pool = driver.pools.find(handle);
    return pool ? static_cast<CUresult>(body(driver, *pool)) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Only pinned memory of the device is supported.
CUresult check_place(const Driver& driver, const CUmemLocation& location, CUmemAllocationType type) {
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_NOT_SUPPORTED;
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  return driver.has_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Only the pool's device can use its allocations.
bool is_place_of(const Pool& pool, const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == pool.properties.location.id;
}

bool is_default(const Driver& driver, CUmemoryPool handle) {
  for (CUdevice device = 0; device < driver.device_count(); ++device) {
    if (driver.default_pool(device)->handle() == handle) return true;
  }
  return false;
}

}  // namespace

void discharge_pool(Driver& driver, const Allocation& allocation) {
  if (allocation.kind != MemoryKind::pooled) return;
  if (const auto pool = driver.pools.find(allocation.pool)) pool->discharge(allocation.size);
}

extern "C" {

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return initialized([=](Driver& driver) {
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *pool = driver.default_pool(device)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return initialized([=](Driver& driver) {
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *pool = driver.current_pool(device)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return on_pool(pool, [=](Driver& driver, Pool&) {
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    driver.set_current_pool(device, pool);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                        CUmemAllocationType type) {
  return initialized([=](Driver& driver) {
    if (pool == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult code = check_place(driver, *location, type);
    if (code == CUDA_SUCCESS) *pool = driver.default_pool(location->id)->handle();
    return code;
  });
}

CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return initialized([=](Driver& driver) {
    if (pool == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult code = check_place(driver, *location, type);
    if (code == CUDA_SUCCESS) *pool = driver.current_pool(location->id)->handle();
    return code;
  });
}

CUresult CUDAAPI cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return on_pool(pool, [=](Driver& driver, Pool&) {
    if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult code = check_place(driver, *location, type);
    if (code == CUDA_SUCCESS) driver.set_current_pool(location->id, pool);
    return code;
  });
}

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
  return initialized([=](Driver& driver) {
    if (handle == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    const CUresult code = check_place(driver, properties->location, properties->allocType);
    if (code == CUDA_SUCCESS) *handle = driver.pools.add(std::make_shared<Pool>(*properties))->handle();
    return code;
  });
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool handle) {
  return initialized([=](Driver& driver) {
    if (is_default(driver, handle)) return CUDA_ERROR_INVALID_VALUE;
    // Its allocations stay until they are freed (cuMemPoolDestroy).
    return driver.pools.take(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool handle, std::size_t) {
  return on_pool(handle,
                 [](Driver&, Pool&) { return CUDA_SUCCESS; });  // no memory is kept that could be trimmed
}

CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return on_pool(handle, [=](Driver&, Pool& pool) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : pool.set_attribute(attribute, value);
  });
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return on_pool(handle, [=](Driver&, Pool& pool) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : pool.attribute(attribute, value);
  });
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* wishes, std::size_t count) {
  return on_pool(handle, [=](Driver&, Pool& pool) {
    if (wishes == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t at = 0; at < count; ++at) {
      if (!is_place_of(pool, wishes[at].location)) return CUDA_ERROR_INVALID_DEVICE;
      // The device keeps access to its own memory.
      if (wishes[at].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  return on_pool(handle, [=](Driver&, Pool& pool) {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_place_of(pool, *location)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
