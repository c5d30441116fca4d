// The facts that the driver beneath reports of a device, without those that do not work through a worker.
#include "cuda-shim/driver/engine.hpp"

namespace fairgv::cuda::remote {
namespace {

/// Attributes that need the program's own pages, other processes, or unserved entry points: the driver
/// beneath may have them, but a program does not.
bool is_out_of_reach(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD:
      return true;
    default:
      return false;
  }
}

/// Attributes of memory that this library mirrors (memory/registered.hpp), and of events that processes share
/// (cuda-shim/api/shared): they are so whatever the driver beneath has.
bool is_done_here(CUdevice_attribute which) {
  return which == CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED ||
         which == CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED ||
         which == CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED;
}

/// The first version of the memory operations in streams is served by the second.
CUdevice_attribute newer(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
      return CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
      return CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR;
    default:
      return which;
  }
}

}  // namespace

int Engine::attribute(CUdevice device, CUdevice_attribute asked) const {
  const CUdevice_attribute which = newer(asked);
  const auto& known = facts(device).attributes;
  const auto at = static_cast<std::size_t>(which);
  if (is_done_here(which)) return 1;
  if (which < 0 || at >= known.size() || is_out_of_reach(which)) return 0;
  const bool needs_addresses = which == CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING ||
                               which == CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY ||
                               which == CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
  return needs_addresses && !shares_addresses_ ? 0 : known[at];
}

}  // namespace fairgv::cuda::remote
