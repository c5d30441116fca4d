// Entry points: the device (CUDA Driver API, "Device Management"). Answers are of limits.hpp, and truthful:
// what is said to be there works.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "entry.hpp"
#include "limits.hpp"

namespace fairgv::softcuda {
namespace {

template <typename Body>
CUresult on_device(CUdevice device, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    return device == kDevice ? static_cast<CUresult>(body(driver)) : CUDA_ERROR_INVALID_DEVICE;
  });
}

template <typename Number>
int whole(Number value) {
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(value), 0x7fffffff));
}

/// Of blocks, threads and memory. False: the attribute is another kind.
bool size_attribute(const DeviceFacts& facts, CUdevice_attribute which, int& value) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      value = whole(largest_block(facts));
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
      value = whole(largest_block_side(facts, 0));
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      value = whole(largest_block_side(facts, 1));
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      value = whole(largest_block_side(facts, 2));
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      value = whole(kLargestGrid[0]);
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
      value = whole(kLargestGrid[1]);
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      value = whole(kLargestGrid[2]);
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      value = whole(shared_per_block(facts));
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      value = whole(shared_at_most(facts));
      return true;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      value = whole(kConstantBytes);
      return true;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      value = whole(kWarp);
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      value = whole(kLargestPitch);
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      value = whole(std::uint64_t{threads_per_multiprocessor(facts)} * kRegistersPerThread);
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      value = whole(threads_per_multiprocessor(facts));
      return true;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      value = whole(kBlocksPerMultiprocessor);
      return true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      value = whole(std::max(1U, facts.compute_units));
      return true;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      value = whole(facts.cache_bytes);
      return true;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      value = whole(std::uint64_t{facts.clock_mhz} * 1000);
      return true;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      value = whole(std::uint64_t{facts.clock_mhz} * 1000);
      return true;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      value = 64;
      return true;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
      value = whole(kTextureAlignment);
      return true;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
      value = 32;
      return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      value = whole(kComputeMajor);
      return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      value = whole(kComputeMinor);
      return true;
    default:
      return false;
  }
}

/// Abilities and facts that are not zero. Everything else of the list is: textures, peers, clusters, sharing.
int other_attribute(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:  // its memory is the host's
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
    case CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:
      return 1;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
      return 2;
    case CU_DEVICE_ATTRIBUTE_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return -1;  // not said
    default:
      return 0;
  }
}

std::string device_name(const Driver& driver) {
  return "FairGV soft device (" + driver.device->facts().name + ")";
}

/// The same device in the same machine has the same one: a name-based id (RFC 9562, version 8: our own hash).
CUuuid device_uuid(const Driver& driver) {
  CUuuid id{};
  const DeviceFacts& facts = driver.device->facts();
  const std::uint64_t halves[2] = {std::hash<std::string>{}(device_name(driver)),
                                   std::hash<std::string>{}(facts.version + facts.driver_version)};
  std::memcpy(id.bytes, halves, sizeof id.bytes);
  id.bytes[6] = static_cast<char>((id.bytes[6] & 0x0f) | 0x80);
  id.bytes[8] = static_cast<char>((id.bytes[8] & 0x3f) | 0x80);
  return id;
}

constexpr const char* kBusId = "0000:00:00.0";  // there is no bus; one device, so one name

}  // namespace

extern "C" {

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  return initialized([=](Driver&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  return initialized([=](Driver&) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", device_name(driver).c_str());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *uuid = device_uuid(driver);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = driver.memory.total();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (value == nullptr || attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    if (!size_attribute(driver.device->facts(), attribute, *value)) *value = other_attribute(attribute);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return on_device(device, [=](Driver&) {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = kComputeMajor;
    *minor = kComputeMinor;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const DeviceFacts& facts = driver.device->facts();
    *properties = {};
    properties->maxThreadsPerBlock = whole(largest_block(facts));
    for (std::size_t at = 0; at < 3; ++at) {
      properties->maxThreadsDim[at] = whole(largest_block_side(facts, at));
      properties->maxGridSize[at] = whole(kLargestGrid[at]);
    }
    properties->sharedMemPerBlock = whole(shared_per_block(facts));
    properties->totalConstantMemory = whole(kConstantBytes);
    properties->SIMDWidth = whole(kWarp);
    properties->memPitch = whole(kLargestPitch);
    properties->regsPerBlock = whole(std::uint64_t{threads_per_multiprocessor(facts)} * kRegistersPerThread);
    properties->clockRate = whole(std::uint64_t{facts.clock_mhz} * 1000);
    properties->textureAlign = whole(kTextureAlignment);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return on_device(device, [=](Driver&) {
    if (id == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, static_cast<std::size_t>(length), "%s", kBusId);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return initialized([=](Driver&) {
    if (device == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // Domain and function may be left out (cuDeviceGetByPCIBusId).
    const bool ours = std::strcmp(id, kBusId) == 0 || std::strcmp(id, "0000:00:00") == 0 ||
                      std::strcmp(id, "00:00.0") == 0 || std::strcmp(id, "00:00") == 0;
    if (!ours) return CUDA_ERROR_INVALID_DEVICE;
    *device = kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice device) {
  return on_device(device, [=](Driver&) {
    if (supported == nullptr || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

// One device: it has no peers.
CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return on_device(device, [=](Driver&) {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (peer != kDevice) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice source, CUdevice) {
  return on_device(source, [=](Driver&) {
    // Two different devices are asked for, and there is one.
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return in_context([=](Driver& driver, Context&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver.contexts.find(peer) ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer) {
  return in_context([=](Driver& driver, Context&) {
    return driver.contexts.find(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT;
  });
}

}  // extern "C"
}  // namespace fairgv::softcuda
