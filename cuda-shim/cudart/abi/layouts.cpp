// Pass-throughs hand structures and enumerations of the runtime API to the driver as they are. Types that are
// not the same by definition have the same representation, which is asserted here, in one place.
#include <cstddef>

#include "cuda-shim/cudart/driver.hpp"

namespace fairgv::cudart {

#define FAIRGV_SAME_SIZE(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs))
#define FAIRGV_SAME_PLACE(ours, field, theirs, their_field) \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field))
#define FAIRGV_SAME_VALUE(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))

FAIRGV_SAME_SIZE(cudaMemLocation, CUmemLocation);
FAIRGV_SAME_SIZE(cudaMemAccessDesc, CUmemAccessDesc);
FAIRGV_SAME_SIZE(cudaMemPoolProps, CUmemPoolProps);
FAIRGV_SAME_PLACE(cudaMemPoolProps, handleTypes, CUmemPoolProps, handleTypes);
FAIRGV_SAME_PLACE(cudaMemPoolProps, location, CUmemPoolProps, location);
FAIRGV_SAME_PLACE(cudaMemPoolProps, maxSize, CUmemPoolProps, maxSize);
FAIRGV_SAME_PLACE(cudaMemPoolProps, usage, CUmemPoolProps, usage);
FAIRGV_SAME_SIZE(cudaMemPoolPtrExportData, CUmemPoolPtrExportData);
FAIRGV_SAME_SIZE(cudaIpcMemHandle_t, CUipcMemHandle);
FAIRGV_SAME_SIZE(cudaIpcEventHandle_t, CUipcEventHandle);
FAIRGV_SAME_SIZE(cudaArrayMemoryRequirements, CUDA_ARRAY_MEMORY_REQUIREMENTS);
FAIRGV_SAME_SIZE(cudaArraySparseProperties, CUDA_ARRAY_SPARSE_PROPERTIES);
FAIRGV_SAME_SIZE(cudaMemcpyAttributes, CUmemcpyAttributes);
FAIRGV_SAME_PLACE(cudaMemcpyAttributes, flags, CUmemcpyAttributes, flags);
FAIRGV_SAME_SIZE(cudaMemcpy3DOperand, CUmemcpy3DOperand);
FAIRGV_SAME_SIZE(cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP);
FAIRGV_SAME_PLACE(cudaMemcpy3DBatchOp, flags, CUDA_MEMCPY3D_BATCH_OP, flags);

FAIRGV_SAME_SIZE(cudaLaunchAttribute, CUlaunchAttribute);
FAIRGV_SAME_PLACE(cudaLaunchAttribute, val, CUlaunchAttribute, value);
FAIRGV_SAME_SIZE(cudaLaunchAttributeValue, CUlaunchAttributeValue);
FAIRGV_SAME_VALUE(cudaLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
FAIRGV_SAME_VALUE(cudaLaunchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
FAIRGV_SAME_VALUE(cudaLaunchAttributeProgrammaticStreamSerialization,
                  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
FAIRGV_SAME_VALUE(cudaLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);

FAIRGV_SAME_SIZE(cudaGraphEdgeData, CUgraphEdgeData);
FAIRGV_SAME_PLACE(cudaGraphEdgeData, type, CUgraphEdgeData, type);
FAIRGV_SAME_SIZE(cudaHostNodeParams, CUDA_HOST_NODE_PARAMS);
FAIRGV_SAME_SIZE(cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS);
FAIRGV_SAME_PLACE(cudaMemsetParams, elementSize, CUDA_MEMSET_NODE_PARAMS, elementSize);
FAIRGV_SAME_PLACE(cudaMemsetParams, height, CUDA_MEMSET_NODE_PARAMS, height);
FAIRGV_SAME_SIZE(cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);
FAIRGV_SAME_PLACE(cudaMemAllocNodeParams, dptr, CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
FAIRGV_SAME_SIZE(cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);
FAIRGV_SAME_SIZE(cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);
FAIRGV_SAME_PLACE(cudaGraphInstantiateParams, result_out, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
FAIRGV_SAME_VALUE(cudaGraphNodeTypeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL);
FAIRGV_SAME_VALUE(cudaGraphNodeTypeMemFree, CU_GRAPH_NODE_TYPE_MEM_FREE);
FAIRGV_SAME_VALUE(cudaGraphInstantiateFlagUseNodePriority, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);

FAIRGV_SAME_VALUE(cudaLimitPersistingL2CacheSize, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
FAIRGV_SAME_VALUE(cudaFuncCachePreferEqual, CU_FUNC_CACHE_PREFER_EQUAL);
FAIRGV_SAME_VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize,
                  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
FAIRGV_SAME_VALUE(cudaFuncAttributeClusterSchedulingPolicyPreference,
                  CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
FAIRGV_SAME_VALUE(cudaDevAttrMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
FAIRGV_SAME_VALUE(cudaDevAttrComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
FAIRGV_SAME_VALUE(cudaDevAttrHostNumaMultinodeIpcSupported,
                  CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED);
FAIRGV_SAME_VALUE(cudaDevP2PAttrCudaArrayAccessSupported,
                  CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED);
FAIRGV_SAME_VALUE(cudaDeviceScheduleBlockingSync, CU_CTX_SCHED_BLOCKING_SYNC);
FAIRGV_SAME_VALUE(cudaDeviceLmemResizeToMax, CU_CTX_LMEM_RESIZE_TO_MAX);
FAIRGV_SAME_VALUE(cudaDeviceSyncMemops, CU_CTX_SYNC_MEMOPS);
FAIRGV_SAME_VALUE(cudaStreamNonBlocking, CU_STREAM_NON_BLOCKING);
FAIRGV_SAME_VALUE(cudaStreamCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
FAIRGV_SAME_VALUE(cudaStreamCaptureStatusInvalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
FAIRGV_SAME_VALUE(cudaEventInterprocess, CU_EVENT_INTERPROCESS);
FAIRGV_SAME_VALUE(cudaEventWaitExternal, CU_EVENT_WAIT_EXTERNAL);
FAIRGV_SAME_VALUE(cudaMemAttachSingle, CU_MEM_ATTACH_SINGLE);
FAIRGV_SAME_VALUE(cudaHostAllocWriteCombined, CU_MEMHOSTALLOC_WRITECOMBINED);
FAIRGV_SAME_VALUE(cudaHostRegisterReadOnly, CU_MEMHOSTREGISTER_READ_ONLY);
FAIRGV_SAME_VALUE(cudaArrayDeferredMapping, CUDA_ARRAY3D_DEFERRED_MAPPING);
FAIRGV_SAME_VALUE(cudaMemAdviseUnsetAccessedBy, CU_MEM_ADVISE_UNSET_ACCESSED_BY);
FAIRGV_SAME_VALUE(cudaMemLocationTypeHost, CU_MEM_LOCATION_TYPE_HOST);
FAIRGV_SAME_VALUE(cudaMemPoolAttrUsedMemHigh, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
FAIRGV_SAME_VALUE(cudaGraphMemAttrReservedMemHigh, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
FAIRGV_SAME_VALUE(cudaEnablePerThreadDefaultStream, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
FAIRGV_SAME_VALUE(cudaDriverEntryPointVersionNotSufficent, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
FAIRGV_SAME_VALUE(cudaLibraryBinaryIsPreserved, CU_LIBRARY_BINARY_IS_PRESERVED);
FAIRGV_SAME_VALUE(cudaMemRangeAttributeLastPrefetchLocation, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);

}  // namespace fairgv::cudart
