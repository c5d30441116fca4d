// Functions and occupancy (CUDA Runtime API, "Execution Control" and "Occupancy").
#include "cuda-shim/cudart/launch.hpp"

namespace fairgv::cudart {
namespace {

struct AttributeField {
  CUfunction_attribute attribute;
  int cudaFuncAttributes::*field;
};

constexpr AttributeField kAttributeFields[] = {
    {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &cudaFuncAttributes::maxThreadsPerBlock},
    {CU_FUNC_ATTRIBUTE_NUM_REGS, &cudaFuncAttributes::numRegs},
    {CU_FUNC_ATTRIBUTE_PTX_VERSION, &cudaFuncAttributes::ptxVersion},
    {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &cudaFuncAttributes::binaryVersion},
    {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &cudaFuncAttributes::cacheModeCA},
    {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &cudaFuncAttributes::maxDynamicSharedSizeBytes},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &cudaFuncAttributes::preferredShmemCarveout},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &cudaFuncAttributes::clusterDimMustBeSet},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &cudaFuncAttributes::requiredClusterWidth},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &cudaFuncAttributes::requiredClusterHeight},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &cudaFuncAttributes::requiredClusterDepth},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
     &cudaFuncAttributes::clusterSchedulingPolicyPreference},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &cudaFuncAttributes::nonPortableClusterSizeAllowed},
};

Status active_blocks(const Driver& driver, int* blocks, const void* function, int block_size,
                     std::size_t shared, unsigned int flags) {
  if (blocks == nullptr) return cudaErrorInvalidValue;
  CUfunction found = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_function(driver, function, found));
  return driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, found, block_size, shared,
                                                                     flags);
}

}  // namespace

FAIRGV_CALL(kContext, cudaFuncGetAttributes, (cudaFuncAttributes * attributes, const void* function),
            (attributes, function)) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  CUfunction found = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_function(driver, function, found));
  const auto get = [&](CUfunction_attribute which, auto& field) -> CUresult {
    int value = 0;
    const CUresult result = driver.cuFuncGetAttribute(&value, which, found);
    field = static_cast<std::remove_reference_t<decltype(field)>>(value);
    return result;
  };
  cudaFuncAttributes filled = {};
  FAIRGV_RETURN_IF_FAILED(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, filled.sharedSizeBytes));
  FAIRGV_RETURN_IF_FAILED(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, filled.constSizeBytes));
  FAIRGV_RETURN_IF_FAILED(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, filled.localSizeBytes));
  for (const AttributeField& entry : kAttributeFields) {
    const CUresult result = get(entry.attribute, filled.*entry.field);
    // An older driver or a simpler device knows nothing of clusters: zero.
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE && result != CUDA_ERROR_NOT_SUPPORTED)
      return result;
  }
  *attributes = filled;
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaFuncSetAttribute, (const void* function, cudaFuncAttribute attribute, int value),
            (function, attribute, value)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  int device = 0;
  FAIRGV_RETURN_IF_FAILED(current_device(driver, device));
  return pass(driver.cuKernelSetAttribute, attribute, value, kernel, device);
}

FAIRGV_CALL(kContext, cudaKernelSetAttributeForDevice,
            (cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device),
            (kernel, attribute, value, device)) {
  CUkernel found = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, kernel, found));
  return pass(driver.cuKernelSetAttribute, attribute, value, found, device);
}

FAIRGV_CALL(kContext, cudaFuncSetCacheConfig, (const void* function, cudaFuncCache config),
            (function, config)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  int device = 0;
  FAIRGV_RETURN_IF_FAILED(current_device(driver, device));
  return pass(driver.cuKernelSetCacheConfig, kernel, config, device);
}

// Without effect since Kepler, like cudaDeviceSetSharedMemConfig (deprecated).
FAIRGV_CALL(kContext, cudaFuncSetSharedMemConfig, (const void* function, cudaSharedMemConfig config),
            (function, config)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  return config <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
}

FAIRGV_CALL(kContext, cudaFuncGetName, (const char** name, const void* function), (name, function)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  return driver.cuKernelGetName(name, kernel);
}

FAIRGV_CALL(kContext, cudaFuncGetParamInfo,
            (const void* function, std::size_t index, std::size_t* offset, std::size_t* size),
            (function, index, offset, size)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  return driver.cuKernelGetParamInfo(kernel, index, offset, size);
}

FAIRGV_CALL(kContext, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
            (int* blocks, const void* function, int block_size, std::size_t shared),
            (blocks, function, block_size, shared)) {
  return active_blocks(driver, blocks, function, block_size, shared, CU_OCCUPANCY_DEFAULT);
}

FAIRGV_CALL(kContext, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int* blocks, const void* function, int block_size, std::size_t shared, unsigned int flags),
            (blocks, function, block_size, shared, flags)) {
  return active_blocks(driver, blocks, function, block_size, shared, flags);
}

FAIRGV_CALL(kContext, cudaOccupancyAvailableDynamicSMemPerBlock,
            (std::size_t * shared, const void* function, int blocks, int block_size),
            (shared, function, blocks, block_size)) {
  CUfunction found = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_function(driver, function, found));
  return driver.cuOccupancyAvailableDynamicSMemPerBlock(shared, found, blocks, block_size);
}

FAIRGV_CALL(kContext, cudaOccupancyMaxPotentialClusterSize,
            (int* size, const void* function, const cudaLaunchConfig_t* config), (size, function, config)) {
  if (config == nullptr) return cudaErrorInvalidValue;
  CUfunction found = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_function(driver, function, found));
  CUlaunchConfig described;
  FAIRGV_RETURN_IF_FAILED(describe_launch(*config, described));
  return driver.cuOccupancyMaxPotentialClusterSize(size, found, &described);
}

FAIRGV_CALL(kContext, cudaOccupancyMaxActiveClusters,
            (int* clusters, const void* function, const cudaLaunchConfig_t* config),
            (clusters, function, config)) {
  if (config == nullptr) return cudaErrorInvalidValue;
  CUfunction found = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_function(driver, function, found));
  CUlaunchConfig described;
  FAIRGV_RETURN_IF_FAILED(describe_launch(*config, described));
  return driver.cuOccupancyMaxActiveClusters(clusters, found, &described);
}

}  // namespace fairgv::cudart
