// cudaDeviceProp of CUDA 13 and of CUDA 12, filled from the driver's attributes.
#ifndef FAIRGV_CUDA_SHIM_CUDART_DEVICE_PROPERTIES_HPP
#define FAIRGV_CUDA_SHIM_CUDART_DEVICE_PROPERTIES_HPP

#include <cstring>

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// The structure that programs of CUDA 12 pass to cudaGetDeviceProperties_v2 (driver_types.h of CUDA 12): the
// field order of CUDA 13, with the fields that CUDA 13 dropped in their places.
struct DeviceProperties12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved2[2];
  int reserved1[1];
  int reserved[60];
};
static_assert(sizeof(DeviceProperties12) == 1032);

template <class Properties>
Status fill_properties(const Driver& driver, Properties* properties, int device) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  Properties filled;
  std::memset(static_cast<void*>(&filled), 0, sizeof filled);
  FAIRGV_RETURN_IF_FAILED(driver.cuDeviceGetName(filled.name, sizeof filled.name, device));
  FAIRGV_RETURN_IF_FAILED(driver.cuDeviceTotalMem(&filled.totalGlobalMem, device));
  FAIRGV_RETURN_IF_FAILED(driver.cuDeviceGetUuid(&filled.uuid, device));
  (void)driver.cuDeviceGetLuid(filled.luid, &filled.luidDeviceNodeMask, device);  // Windows only

  // A device lacks every attribute that an older driver does not know.
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    const CUresult result =
        driver.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(which), device);
    return result == CUDA_SUCCESS ? value : 0;
  };
#define FAIRGV_PROPERTY(field, name) \
  filled.field = static_cast<std::remove_reference_t<decltype(filled.field)>>(attribute(cudaDevAttr##name));
#define FAIRGV_PROPERTY_12(field, name) \
  if constexpr (std::is_same_v<Properties, DeviceProperties12>) FAIRGV_PROPERTY(field, name)
#define FAIRGV_PROPERTY_13(field, name) \
  if constexpr (std::is_same_v<Properties, cudaDeviceProp>) FAIRGV_PROPERTY(field, name)
#include "cuda-shim/cudart/abi/device_properties.def"
#undef FAIRGV_PROPERTY
#undef FAIRGV_PROPERTY_12
#undef FAIRGV_PROPERTY_13
  filled.unifiedFunctionPointers =
      attribute(static_cast<cudaDeviceAttr>(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS));
  *properties = filled;
  return cudaSuccess;
}

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_DEVICE_PROPERTIES_HPP
