// Entry points: what graphs have of a device's memory (CUDA Driver API, "Graph Management"). The nodes
// themselves are added in node.cpp.
#include <cstring>

#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
extern "C" {

// Memory goes with the graphs that have it: nothing is kept that could be trimmed.
CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice device) {
  return on_device(device, [](Driver&) { return CUDA_SUCCESS; });
}

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void* value) {
  return on_device(device, [=](Driver& driver) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t number = 0;
    const CUresult code = driver.graph_memory.attribute(device, which, number);
    if (code == CUDA_SUCCESS) std::memcpy(value, &number, sizeof number);
    return code;
  });
}

CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void* value) {
  return on_device(device, [=](Driver& driver) {
    std::uint64_t number = 0;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(&number, value, sizeof number);
    return number == 0 ? driver.graph_memory.reset(device, which) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
