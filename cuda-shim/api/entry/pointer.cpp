// Entry points: attributes of an address (CUDA Driver API, "Unified Addressing").
#include <cstring>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/memory/mapped.hpp"

namespace fairgv::cuda {
namespace {

template <typename Value>
CUresult store(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

/// For kernels of the context. Registered memory is mapped now if the program has said that it will be.
CUresult address_for_kernels(Driver& driver, Context& context, const Allocation& allocation,
                             std::uint64_t address, CUdeviceptr& on_device) {
  const bool maps =
      allocation.kind == MemoryKind::registered && (allocation.flags & CU_MEMHOSTREGISTER_DEVICEMAP) != 0;
  return maps ? map_address(driver, context, allocation, address, on_device)
              : device_address(driver, context, allocation, address, on_device);
}

/// Handles of physical memory and the numbers of other memory are counted apart.
constexpr std::uint64_t kPhysical = std::uint64_t{1} << 63U;

CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS access_of(const Allocation& allocation) {
  if (!allocation.allows(Use::read)) return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
  return is_read_only(allocation) || !allocation.allows(Use::write)
             ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
             : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
}

CUresult attribute_of(Driver& driver, Context& context, const Allocation& allocation, CUdeviceptr address,
                      CUpointer_attribute which, void* data) {
  const bool host = allocation.is_host();
  const bool is_ranged = allocation.kind == MemoryKind::ranged;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return store(data, allocation.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return store(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: {
      CUdeviceptr on_device = 0;
      const CUresult code = address_for_kernels(driver, context, allocation, address, on_device);
      return code == CUDA_SUCCESS ? store(data, on_device) : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      // Device memory has no host address that a program may learn.
      if (!host && !allocation.is_managed()) return CUDA_ERROR_INVALID_VALUE;
      return store(data, reinterpret_cast<void*>(program_address(allocation, address)));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return store(data, static_cast<int>(allocation.sync_memops.load(std::memory_order_relaxed)));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return store(data, static_cast<unsigned long long>(allocation.buffer_id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return store(data, static_cast<int>(allocation.is_managed()));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return store(data, static_cast<int>(allocation.device));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return store(data, static_cast<int>(allocation.kind == MemoryKind::device));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return store(data, 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return store(data, 0ULL);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return store(data, is_ranged ? allocation.range_begin : allocation.begin);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return store(data, allocation.begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return store(data, static_cast<std::size_t>(is_ranged ? allocation.range_size : allocation.size));
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return store(data, static_cast<std::size_t>(allocation.size));
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return store(data, 1);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return store(data, access_of(allocation));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return store(data, allocation.pool);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return store(data, static_cast<unsigned long long>(is_ranged ? kPhysical | allocation.physical
                                                                   : allocation.buffer_id));
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

constexpr int kAccessNone = 0;

std::size_t size_of(CUpointer_attribute which) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return sizeof(int);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return 0;
    default:
      return sizeof(std::uint64_t);
  }
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr address) {
  return in_context([=](Driver& driver, Context& context) {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = driver.memory.find(address);
    return allocation ? attribute_of(driver, context, *allocation, address, which, data)
                      : CUDA_ERROR_INVALID_VALUE;
  });
}

// Unlike cuPointerGetAttribute, this call has an answer for any address: attributes that do not apply are
// zero.
CUresult CUDAAPI cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                        CUdeviceptr address) {
  return in_context([=](Driver& driver, Context& context) {
    if (count == 0 || attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = driver.memory.find(address);
    for (unsigned at = 0; at < count; ++at) {
      if (attributes[at] < CU_POINTER_ATTRIBUTE_CONTEXT ||
          attributes[at] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE || data[at] == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (allocation &&
          attribute_of(driver, context, *allocation, address, attributes[at], data[at]) == CUDA_SUCCESS) {
        continue;
      }
      std::memset(data[at], kAccessNone, size_of(attributes[at]));
      if (!allocation && attributes[at] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) store(data[at], -2);
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr address) {
  return in_context([=](Driver& driver, Context&) {
    const auto allocation = driver.memory.find(address);
    if (value == nullptr || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !allocation)
      return CUDA_ERROR_INVALID_VALUE;
    int on = 0;
    std::memcpy(&on, value, sizeof on);
    allocation->sync_memops.store(on != 0, std::memory_order_relaxed);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
