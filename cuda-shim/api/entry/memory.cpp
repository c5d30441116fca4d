// Entry points: memory of the device, managed memory and the host's (CUDA Driver API, "Memory Management").
#include <algorithm>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/memory/bounds.hpp"
#include "cuda-shim/api/memory/mapped.hpp"
#include "cuda-shim/api/memory/program_pages.hpp"
#include "cuda-shim/api/memory/ranges.hpp"

namespace fairgv::cuda {
namespace {

/// Allocating and freeing are in no stream's order, so a graph would not repeat them.
CUresult refuse_in_capture(Driver& driver) {
  return driver.captures.any() ? driver.captures.refuse_unsafe() : CUDA_SUCCESS;
}

CUresult allocate(Driver& driver, Context& context, CUdeviceptr* address, const MemoryWish& wish) {
  if (address == nullptr || wish.size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = refuse_in_capture(driver); code != CUDA_SUCCESS) return code;
  std::shared_ptr<Allocation> allocation;
  if (const CUresult code = driver.allocate(context, wish, allocation); code != CUDA_SUCCESS) return code;
  *address = allocation->begin;
  return CUDA_SUCCESS;
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

CUresult allocate_host(Driver& driver, Context& context, void** pointer, std::size_t size, unsigned flags) {
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (pointer == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr address = 0;
  const CUresult code = allocate(driver, context, &address, {size, MemoryKind::host, flags});
  if (code == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(address);
  return code;
}

/// Work that may still use the memory comes first: freeing synchronises, as NVIDIA's driver does.
void wait_and_remove(Driver& driver, Context& context, const Allocation& allocation) {
  driver.scheduler.synchronize(*context.group());
  if (allocation.context != context.handle()) {
    if (const auto owner = driver.contexts.find(allocation.context))
      driver.scheduler.synchronize(*owner->group());
  }
  driver.memory.remove(allocation);
}

CUresult valid_location(const Driver& driver, const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return driver.has_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

Freeing begin_free(Allocation& allocation) {
  if (allocation.kind == MemoryKind::graph) {
    GraphHold hold = GraphHold::live;
    if (allocation.hold.compare_exchange_strong(hold, GraphHold::idle, std::memory_order_acq_rel))
      return Freeing::kept_by_graph;
    return hold == GraphHold::orphan &&
                   allocation.hold.compare_exchange_strong(hold, GraphHold::none, std::memory_order_acq_rel)
               ? Freeing::removes
               : Freeing::refused;
  }
  const bool freeable = !allocation.is_host() && allocation.kind != MemoryKind::variable &&
                        allocation.kind != MemoryKind::opened && allocation.kind != MemoryKind::ranged &&
                        !allocation.freed.exchange(true, std::memory_order_acq_rel);
  return freeable ? Freeing::removes : Freeing::refused;
}

CUresult check_managed_range(Driver& driver, CUdeviceptr address, std::size_t size,
                             const CUmemLocation& location) {
  const auto allocation = driver.memory.find(address);
  if (size == 0 || !allocation || !allocation->is_managed() || !driver.memory.covers(address, size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return valid_location(driver, location);
}

extern "C" {

CUresult CUDAAPI cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return in_context([=](Driver& driver, Context& context) {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return driver.engine.memory_info(context, driver.memory.used(), *free, *total);
  });
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t size) {
  return in_context([=](Driver& driver, Context& context) {
    return allocate(driver, context, address, {size, MemoryKind::device, 0});
  });
}

CUresult CUDAAPI cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                                 std::size_t height, unsigned int element_size) {
  return in_context([=](Driver& driver, Context& context) {
    if (address == nullptr || pitch == nullptr || width == 0 || height == 0 || width > kLargestPitch ||
        (element_size != 4 && element_size != 8 && element_size != 16)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::size_t row = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    if (height > SIZE_MAX / row) return CUDA_ERROR_OUT_OF_MEMORY;
    if (const CUresult code = refuse_in_capture(driver); code != CUDA_SUCCESS) return code;
    MemoryWish wish{row * height};
    wish.rows = height;
    wish.width = width;
    wish.element_bytes = element_size;
    std::shared_ptr<Allocation> allocation;
    if (const CUresult code = driver.allocate(context, wish, allocation); code != CUDA_SUCCESS) return code;
    *address = allocation->begin;
    *pitch = allocation->pitch;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* address, std::size_t size, unsigned int flags) {
  return in_context([=](Driver& driver, Context& context) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
    return allocate(driver, context, address, {size, MemoryKind::managed, flags});
  });
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  return in_any_context([=](Driver& driver, Context& context) {
    if (address == 0) return CUDA_SUCCESS;
    if (const CUresult code = refuse_in_capture(driver); code != CUDA_SUCCESS) return code;
    const auto allocation = driver.memory.find_begin(address);
    const Freeing freeing = allocation ? begin_free(*allocation) : Freeing::refused;
    if (freeing == Freeing::refused) return CUDA_ERROR_INVALID_VALUE;
    if (freeing == Freeing::kept_by_graph) return driver.scheduler.synchronize(*context.group());
    wait_and_remove(driver, context, *allocation);
    discharge_pool(driver, *allocation);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  return in_context([=](Driver& driver, Context&) {
    const auto allocation = driver.memory.find(address);
    if (!allocation) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = allocation->begin;
    if (size != nullptr) *size = allocation->size;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemHostAlloc(void** pointer, std::size_t size, unsigned int flags) {
  return in_context(
      [=](Driver& driver, Context& context) { return allocate_host(driver, context, pointer, size, flags); });
}

CUresult CUDAAPI cuMemAllocHost(void** pointer, std::size_t size) {
  return in_context([=](Driver& driver, Context& context) {
    // With unified addressing the memory is portable and mapped (cuMemAllocHost).
    return allocate_host(driver, context, pointer, size,
                         CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  });
}

CUresult CUDAAPI cuMemFreeHost(void* pointer) {
  return in_any_context([=](Driver& driver, Context& context) {
    if (pointer == nullptr) return CUDA_SUCCESS;
    if (const CUresult code = refuse_in_capture(driver); code != CUDA_SUCCESS) return code;
    const auto allocation = driver.memory.find_begin(address_of(pointer));
    if (!allocation || allocation->kind != MemoryKind::host ||
        allocation->freed.exchange(true, std::memory_order_acq_rel)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    wait_and_remove(driver, context, *allocation);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr* address, void* pointer, unsigned int flags) {
  return in_context([=](Driver& driver, Context& context) {
    if (address == nullptr || pointer == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = driver.memory.find(address_of(pointer));
    if (!allocation || !allocation->is_host()) return CUDA_ERROR_INVALID_VALUE;
    return map_address(driver, context, *allocation, address_of(pointer), *address);
  });
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return in_context([=](Driver& driver, Context&) {
    const auto allocation = driver.memory.find(address_of(pointer));
    if (flags == nullptr || !allocation || allocation->kind != MemoryKind::host)
      return CUDA_ERROR_INVALID_VALUE;
    // All pinned memory is mapped where addressing is unified.
    *flags = allocation->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemHostRegister(void* pointer, std::size_t size, unsigned int flags) {
  return in_context([=](Driver& driver, Context& context) {
    constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (pointer == nullptr || size == 0 || (flags & ~kKnown) != 0 ||
        size > UINT64_MAX - address_of(pointer)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (!are_there(address_of(pointer), size)) return CUDA_ERROR_INVALID_VALUE;
    return driver.memory.enter(address_of(pointer), size, MemoryKind::registered, context.handle(),
                               context.device(), flags)
               ? CUDA_SUCCESS
               : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  });
}

CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
  return in_any_context([=](Driver& driver, Context& context) {
    const auto allocation = driver.memory.find_begin(address_of(pointer));
    if (!allocation || allocation->kind != MemoryKind::registered ||
        allocation->freed.exchange(true, std::memory_order_acq_rel)) {
      return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    wait_and_remove(driver, context, *allocation);
    return CUDA_SUCCESS;
  });
}

// Advice has no effect, because there is one memory. Its errors are reported all the same.
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, std::size_t size, CUmem_advise advice,
                             CUmemLocation location) {
  return in_context([=](Driver& driver, Context&) {
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // Read-mostly names no place (cuMemAdvise).
    CUmemLocation place = location;
    if (advice <= CU_MEM_ADVISE_UNSET_READ_MOSTLY) place = {CU_MEM_LOCATION_TYPE_HOST, 0};
    return check_managed_range(driver, address, size, place);
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
