// Calls whose signatures differ between the releases: in CUDA 13 the edges of graphs carry data, and places
// of memory are more than device numbers. The entry points of both releases call these functions.
#ifndef FAIRGV_CUDA_SHIM_CUDART_EDGES_HPP
#define FAIRGV_CUDA_SHIM_CUDART_EDGES_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// The state of a capture, as far as the caller asks; `graph` and the members behind it may be null.
struct CaptureInfo {
  cudaStreamCaptureStatus* status = nullptr;
  unsigned long long* id = nullptr;
  cudaGraph_t* graph = nullptr;
  const cudaGraphNode_t** dependencies = nullptr;
  const cudaGraphEdgeData** edges = nullptr;
  std::size_t* count = nullptr;
};

inline Status capture_info(const Driver& driver, cudaStream_t stream, const CaptureInfo& info) {
  if (info.status == nullptr) return cudaErrorInvalidValue;
  return pass(driver.cuStreamGetCaptureInfo, stream, info.status, info.id, info.graph, info.dependencies,
              info.edges, info.count);
}

// CUDA 12 has device numbers where CUDA 13 has places: cudaCpuDeviceId is the host.
inline cudaMemLocation location_of(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

inline Status advise(const Driver& driver, const void* memory, std::size_t count, cudaMemoryAdvise advice,
                     cudaMemLocation location) {
  return pass(driver.cuMemAdvise, memory, count, advice, location);
}

inline Status prefetch(const Driver& driver, const void* memory, std::size_t count, cudaMemLocation location,
                       unsigned int flags, cudaStream_t stream) {
  return pass(driver.cuMemPrefetchAsync, memory, count, location, flags, stream);
}

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_EDGES_HPP
