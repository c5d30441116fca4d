// The entry points of libcudart.so.12 that CUDA 13 dropped or changed (cuda_runtime_api.h of CUDA 12).
//
// The headers at hand are CUDA 13's, in which some of these names have other signatures. So each function has
// a name of our own here, and FAIRGV_NAMED gives it the exported one in the object file.
#include <cstddef>
#include <cstring>

#include "cuda-shim/cudart/abi/device_properties.hpp"
#include "cuda-shim/cudart/abi/pointer_attributes.hpp"
#include "cuda-shim/cudart/edges.hpp"
#include "cuda-shim/cudart/graph_node.hpp"

namespace fairgv::cudart {

// The last release of CUDA 12 whose entry points are known here.
const unsigned int kRuntimeVersion = 12090;

// An entry point under an exported name: both variants of stream functions likewise.
#define FAIRGV_NAMED(needs, stream, body, exported, parameters, arguments)      \
  FAIRGV_EXPORT cudaError_t body##_as_##exported parameters __asm__(#exported); \
  FAIRGV_ENTRY(needs, stream, body##_as_##exported, body, parameters, arguments)
#define FAIRGV_CALL_12(needs, body, exported, parameters, arguments)  \
  static Status body FAIRGV_WITH_DRIVER parameters;                   \
  FAIRGV_NAMED(needs, kLegacy, body, exported, parameters, arguments) \
  static Status body FAIRGV_WITH_DRIVER parameters
#define FAIRGV_STREAM_CALL_12(needs, body, exported, suffix, parameters, arguments) \
  static Status body FAIRGV_WITH_DRIVER parameters;                                 \
  FAIRGV_NAMED(needs, kLegacy, body, exported, parameters, arguments)               \
  FAIRGV_NAMED(needs, kPerThread, body, exported##suffix, parameters, arguments)    \
  static Status body FAIRGV_WITH_DRIVER parameters

FAIRGV_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return note(cudaErrorInvalidValue);
  *version = static_cast<int>(kRuntimeVersion);
  return cudaSuccess;
}

FAIRGV_CALL_12(kDriver, device_properties_12, cudaGetDeviceProperties_v2,
               (DeviceProperties12 * properties, int device), (properties, device)) {
  return fill_properties(driver, properties, device);
}

// The name without a version is for programs of CUDA 11 and gives what CUDA 12's structure has in common with
// theirs: everything up to the shared memory that the driver reserves.
FAIRGV_CALL_12(kDriver, device_properties_11, cudaGetDeviceProperties, (void* properties, int device),
               (properties, device)) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  DeviceProperties12 filled;
  FAIRGV_RETURN_IF_FAILED(fill_properties(driver, &filled, device));
  std::memcpy(properties, &filled, offsetof(DeviceProperties12, hostRegisterSupported));
  return cudaSuccess;
}

FAIRGV_CALL_12(kContext, pointer_attributes_12, cudaPointerGetAttributes,
               (PointerAttributes * attributes, const void* pointer), (attributes, pointer)) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  return pointer_attributes(driver, pointer, *attributes);
}

FAIRGV_CALL_12(kContext, advise_device, cudaMemAdvise,
               (const void* memory, std::size_t count, cudaMemoryAdvise advice, int device),
               (memory, count, advice, device)) {
  return advise(driver, memory, count, advice, location_of(device));
}

FAIRGV_CALL_12(kContext, advise_location, cudaMemAdvise_v2,
               (const void* memory, std::size_t count, cudaMemoryAdvise advice, cudaMemLocation location),
               (memory, count, advice, location)) {
  return advise(driver, memory, count, advice, location);
}

FAIRGV_STREAM_CALL_12(kContext, prefetch_device, cudaMemPrefetchAsync, _ptsz,
                      (const void* memory, std::size_t count, int device, cudaStream_t stream),
                      (memory, count, device, stream)) {
  return prefetch(driver, memory, count, location_of(device), 0, stream);
}

FAIRGV_STREAM_CALL_12(kContext, prefetch_location, cudaMemPrefetchAsync_v2, _ptsz,
                      (const void* memory, std::size_t count, cudaMemLocation location, unsigned int flags,
                       cudaStream_t stream),
                      (memory, count, location, flags, stream)) {
  return prefetch(driver, memory, count, location, flags, stream);
}

// The driver of CUDA 13 does not say which operation of a batch failed: none in particular.
FAIRGV_STREAM_CALL_12(kContext, copy_batch_12, cudaMemcpyBatchAsync, _ptsz,
                      (void** destinations, void** sources, std::size_t* sizes, std::size_t count,
                       cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
                       std::size_t* failed, cudaStream_t stream),
                      (destinations, sources, sizes, count, attributes, indices, attribute_count, failed,
                       stream)) {
  if (failed != nullptr) *failed = static_cast<std::size_t>(-1);
  return pass(driver.cuMemcpyBatchAsync, destinations, sources, sizes, count, attributes, indices,
              attribute_count, stream);
}

FAIRGV_STREAM_CALL_12(kContext, copy_3d_batch_12, cudaMemcpy3DBatchAsync, _ptsz,
                      (std::size_t count, cudaMemcpy3DBatchOp* operations, std::size_t* failed,
                       unsigned long long flags, cudaStream_t stream),
                      (count, operations, failed, flags, stream)) {
  if (failed != nullptr) *failed = static_cast<std::size_t>(-1);
  return pass(driver.cuMemcpy3DBatchAsync, count, operations, flags, stream);
}

FAIRGV_CALL_12(kContext, elapsed_time_12, cudaEventElapsedTime_v2,
               (float* milliseconds, cudaEvent_t start, cudaEvent_t end), (milliseconds, start, end)) {
  return driver.cuEventElapsedTime(milliseconds, start, end);
}

// Captures: by status and id, then with the graph, then with the data of its edges.
FAIRGV_STREAM_CALL_12(kContext, capture_info_1, cudaStreamGetCaptureInfo, _ptsz,
                      (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id),
                      (stream, status, id)) {
  return capture_info(driver, stream, {status, id, nullptr, nullptr, nullptr, nullptr});
}

FAIRGV_STREAM_CALL_12(kContext, capture_info_2, cudaStreamGetCaptureInfo_v2, _ptsz,
                      (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                       cudaGraph_t* graph, const cudaGraphNode_t** dependencies, std::size_t* count),
                      (stream, status, id, graph, dependencies, count)) {
  return capture_info(driver, stream, {status, id, graph, dependencies, nullptr, count});
}

FAIRGV_STREAM_CALL_12(kContext, capture_info_3, cudaStreamGetCaptureInfo_v3, _ptsz,
                      (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                       cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                       const cudaGraphEdgeData** edges, std::size_t* count),
                      (stream, status, id, graph, dependencies, edges, count)) {
  return capture_info(driver, stream, {status, id, graph, dependencies, edges, count});
}

FAIRGV_STREAM_CALL_12(kContext, update_capture_1, cudaStreamUpdateCaptureDependencies, _ptsz,
                      (cudaStream_t stream, cudaGraphNode_t* dependencies, std::size_t count,
                       unsigned int flags),
                      (stream, dependencies, count, flags)) {
  return pass(driver.cuStreamUpdateCaptureDependencies, stream, dependencies,
              static_cast<const CUgraphEdgeData*>(nullptr), count, flags);
}

FAIRGV_STREAM_CALL_12(kContext, update_capture_2, cudaStreamUpdateCaptureDependencies_v2, _ptsz,
                      (cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                       std::size_t count, unsigned int flags),
                      (stream, dependencies, edges, count, flags)) {
  return pass(driver.cuStreamUpdateCaptureDependencies, stream, dependencies, edges, count, flags);
}

// Edges without data, and with it.
FAIRGV_CALL_12(kContext, add_node_1, cudaGraphAddNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                std::size_t count, cudaGraphNodeParams* parameters),
               (node, graph, dependencies, count, parameters)) {
  return add_node(driver, node, graph, dependencies, nullptr, count, parameters);
}

FAIRGV_CALL_12(kContext, add_node_2, cudaGraphAddNode_v2,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters),
               (node, graph, dependencies, edges, count, parameters)) {
  return add_node(driver, node, graph, dependencies, edges, count, parameters);
}

FAIRGV_CALL_12(kContext, add_dependencies_1, cudaGraphAddDependencies,
               (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count),
               (graph, from, to, count)) {
  return driver.cuGraphAddDependencies(graph, from, to, nullptr, count);
}

FAIRGV_CALL_12(kContext, add_dependencies_2, cudaGraphAddDependencies_v2,
               (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                const cudaGraphEdgeData* edges, std::size_t count),
               (graph, from, to, edges, count)) {
  return pass(driver.cuGraphAddDependencies, graph, from, to, edges, count);
}

FAIRGV_CALL_12(kContext, remove_dependencies_1, cudaGraphRemoveDependencies,
               (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count),
               (graph, from, to, count)) {
  return driver.cuGraphRemoveDependencies(graph, from, to, nullptr, count);
}

FAIRGV_CALL_12(kContext, remove_dependencies_2, cudaGraphRemoveDependencies_v2,
               (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                const cudaGraphEdgeData* edges, std::size_t count),
               (graph, from, to, edges, count)) {
  return pass(driver.cuGraphRemoveDependencies, graph, from, to, edges, count);
}

FAIRGV_CALL_12(kContext, edges_1, cudaGraphGetEdges,
               (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count),
               (graph, from, to, count)) {
  return driver.cuGraphGetEdges(graph, from, to, nullptr, count);
}

FAIRGV_CALL_12(kContext, edges_2, cudaGraphGetEdges_v2,
               (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                std::size_t* count),
               (graph, from, to, edges, count)) {
  return pass(driver.cuGraphGetEdges, graph, from, to, edges, count);
}

FAIRGV_CALL_12(kContext, dependencies_1, cudaGraphNodeGetDependencies,
               (cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count), (node, nodes, count)) {
  return driver.cuGraphNodeGetDependencies(node, nodes, nullptr, count);
}

FAIRGV_CALL_12(kContext, dependencies_2, cudaGraphNodeGetDependencies_v2,
               (cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, std::size_t* count),
               (node, nodes, edges, count)) {
  return pass(driver.cuGraphNodeGetDependencies, node, nodes, edges, count);
}

FAIRGV_CALL_12(kContext, dependents_1, cudaGraphNodeGetDependentNodes,
               (cudaGraphNode_t node, cudaGraphNode_t* nodes, std::size_t* count), (node, nodes, count)) {
  return driver.cuGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

FAIRGV_CALL_12(kContext, dependents_2, cudaGraphNodeGetDependentNodes_v2,
               (cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, std::size_t* count),
               (node, nodes, edges, count)) {
  return pass(driver.cuGraphNodeGetDependentNodes, node, nodes, edges, count);
}

// cudaThread* names of calls that concern the device since CUDA 4; CUDA 13 dropped them.
#define FAIRGV_FORMER_NAME(former, current, parameters, arguments) \
  FAIRGV_EXPORT cudaError_t former parameters {                    \
    return current arguments;                                      \
  }
FAIRGV_FORMER_NAME(cudaThreadExit, cudaDeviceReset, (), ())
FAIRGV_FORMER_NAME(cudaThreadSynchronize, cudaDeviceSynchronize, (), ())
FAIRGV_FORMER_NAME(cudaThreadSetLimit, cudaDeviceSetLimit, (cudaLimit limit, std::size_t value),
                   (limit, value))
FAIRGV_FORMER_NAME(cudaThreadGetLimit, cudaDeviceGetLimit, (std::size_t * value, cudaLimit limit),
                   (value, limit))
FAIRGV_FORMER_NAME(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig, (cudaFuncCache config), (config))
FAIRGV_FORMER_NAME(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig, (cudaFuncCache * config), (config))

// Devices use the host's double precision, so there is nothing to convert.
FAIRGV_EXPORT cudaError_t cudaSetDoubleForDevice(double*) {
  return cudaSuccess;
}
FAIRGV_EXPORT cudaError_t cudaSetDoubleForHost(double*) {
  return cudaSuccess;
}

}  // namespace fairgv::cudart
