// Entry points: devices (CUDA Driver API, "Device Management"). Facts are the engine's.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

/// Domain, bus, device and function, without other characters in any part. Domain and function may be left
/// out (cuDeviceGetByPCIBusId).
using BusId = std::array<unsigned, 4>;

bool read_bus_id(const char* text, BusId& id) {
  int end = -1;
  const auto matches = [&] { return end >= 0 && text[end] == '\0'; };
  id = {};
  std::sscanf(text, "%x:%x:%x.%x%n", &id[0], &id[1], &id[2], &id[3], &end);
  if (matches()) return true;
  id = {};
  std::sscanf(text, "%x:%x:%x%n", &id[0], &id[1], &id[2], &end);
  if (matches()) return true;
  id = {};
  std::sscanf(text, "%x:%x.%x%n", &id[1], &id[2], &id[3], &end);
  if (matches()) return true;
  id = {};
  std::sscanf(text, "%x:%x%n", &id[1], &id[2], &end);
  return matches();
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  return initialized([=](Driver& driver) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.has_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  return initialized([=](Driver& driver) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = driver.device_count();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", driver.description(device).name.c_str());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *uuid = driver.description(device).uuid;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = driver.description(device).memory;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (value == nullptr || attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    *value = driver.engine.attribute(device, attribute);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = driver.engine.attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = driver.engine.attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto fact = [&](CUdevice_attribute which) { return driver.engine.attribute(device, which); };
    *properties = {};
    properties->maxThreadsPerBlock = fact(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    properties->maxThreadsDim[0] = fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    properties->maxThreadsDim[1] = fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    properties->maxThreadsDim[2] = fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    properties->maxGridSize[0] = fact(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    properties->maxGridSize[1] = fact(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    properties->maxGridSize[2] = fact(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    properties->sharedMemPerBlock = fact(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    properties->totalConstantMemory = fact(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    properties->SIMDWidth = fact(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    properties->memPitch = fact(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    properties->regsPerBlock = fact(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    properties->clockRate = fact(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    properties->textureAlign = fact(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return on_device(device, [=](Driver& driver) {
    if (id == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, static_cast<std::size_t>(length), "%s", driver.description(device).pci_bus_id.c_str());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return initialized([=](Driver& driver) {
    BusId asked{};
    if (device == nullptr || id == nullptr || !read_bus_id(id, asked)) return CUDA_ERROR_INVALID_VALUE;
    for (CUdevice at = 0; at < driver.device_count(); ++at) {
      BusId own{};
      if (!read_bus_id(driver.description(at).pci_bus_id.c_str(), own) || own != asked) continue;
      *device = at;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
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

// No device has peers here: each is shared on its own.
CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return on_device(device, [=](Driver& driver) {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.has_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice source, CUdevice peer) {
  return on_device(source, [=](Driver& driver) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.has_device(peer) || peer == source) return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    return CUDA_SUCCESS;
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
}  // namespace fairgv::cuda
