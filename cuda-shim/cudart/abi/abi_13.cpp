// The entry points of libcudart.so.13 whose signatures or structures are not those of libcudart.so.12.
#include <algorithm>
#include <iterator>

#include "cuda-shim/cudart/abi/device_properties.hpp"
#include "cuda-shim/cudart/abi/pointer_attributes.hpp"
#include "cuda-shim/cudart/edges.hpp"
#include "cuda-shim/cudart/graph_node.hpp"

namespace fairgv::cudart {

const unsigned int kRuntimeVersion = CUDART_VERSION;

FAIRGV_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return note(cudaErrorInvalidValue);
  *version = static_cast<int>(kRuntimeVersion);
  return cudaSuccess;
}

FAIRGV_CALL(kDriver, cudaGetDeviceProperties, (cudaDeviceProp * properties, int device),
            (properties, device)) {
  return fill_properties(driver, properties, device);
}

FAIRGV_CALL(kContext, cudaPointerGetAttributes, (cudaPointerAttributes * attributes, const void* pointer),
            (attributes, pointer)) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  PointerAttributes found{};
  FAIRGV_RETURN_IF_FAILED(pointer_attributes(driver, pointer, found));
  attributes->type = found.type;
  attributes->device = found.device;
  attributes->devicePointer = found.device_pointer;
  attributes->hostPointer = found.host_pointer;
  std::fill(std::begin(attributes->reserved), std::end(attributes->reserved), 0);
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaMemAdvise,
            (const void* memory, std::size_t count, cudaMemoryAdvise advice, cudaMemLocation location),
            (memory, count, advice, location)) {
  return advise(driver, memory, count, advice, location);
}

FAIRGV_STREAM_CALL(kContext, cudaMemPrefetchAsync, _ptsz,
                   (const void* memory, std::size_t count, cudaMemLocation location, unsigned int flags,
                    cudaStream_t stream),
                   (memory, count, location, flags, stream)) {
  return prefetch(driver, memory, count, location, flags, stream);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyBatchAsync, _ptsz,
                   (void* const* destinations, const void* const* sources, const std::size_t* sizes,
                    std::size_t count, cudaMemcpyAttributes* attributes, std::size_t* indices,
                    std::size_t attribute_count, cudaStream_t stream),
                   (destinations, sources, sizes, count, attributes, indices, attribute_count, stream)) {
  return pass(driver.cuMemcpyBatchAsync, destinations, sources, sizes, count, attributes, indices,
              attribute_count, stream);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy3DBatchAsync, _ptsz,
                   (std::size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags,
                    cudaStream_t stream),
                   (count, operations, flags, stream)) {
  return pass(driver.cuMemcpy3DBatchAsync, count, operations, flags, stream);
}

FAIRGV_STREAM_CALL(kContext, cudaStreamGetCaptureInfo, _ptsz,
                   (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                    cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                    std::size_t* count),
                   (stream, status, id, graph, dependencies, edges, count)) {
  return capture_info(driver, stream, {status, id, graph, dependencies, edges, count});
}

FAIRGV_STREAM_CALL(kContext, cudaStreamUpdateCaptureDependencies, _ptsz,
                   (cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                    std::size_t count, unsigned int flags),
                   (stream, dependencies, edges, count, flags)) {
  return pass(driver.cuStreamUpdateCaptureDependencies, stream, dependencies, edges, count, flags);
}

FAIRGV_CALL(kContext, cudaGraphAddNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters),
            (node, graph, dependencies, edges, count, parameters)) {
  return add_node(driver, node, graph, dependencies, edges, count, parameters);
}

FAIRGV_CALL(kContext, cudaGraphAddDependencies,
            (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
             const cudaGraphEdgeData* edges, std::size_t count),
            (graph, from, to, edges, count)) {
  return pass(driver.cuGraphAddDependencies, graph, from, to, edges, count);
}

FAIRGV_CALL(kContext, cudaGraphRemoveDependencies,
            (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
             const cudaGraphEdgeData* edges, std::size_t count),
            (graph, from, to, edges, count)) {
  return pass(driver.cuGraphRemoveDependencies, graph, from, to, edges, count);
}

FAIRGV_CALL(kContext, cudaGraphGetEdges,
            (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
             std::size_t* count),
            (graph, from, to, edges, count)) {
  return pass(driver.cuGraphGetEdges, graph, from, to, edges, count);
}

FAIRGV_CALL(kContext, cudaGraphNodeGetDependencies,
            (cudaGraphNode_t node, cudaGraphNode_t* dependencies, cudaGraphEdgeData* edges,
             std::size_t* count),
            (node, dependencies, edges, count)) {
  return pass(driver.cuGraphNodeGetDependencies, node, dependencies, edges, count);
}

FAIRGV_CALL(kContext, cudaGraphNodeGetDependentNodes,
            (cudaGraphNode_t node, cudaGraphNode_t* dependents, cudaGraphEdgeData* edges, std::size_t* count),
            (node, dependents, edges, count)) {
  return pass(driver.cuGraphNodeGetDependentNodes, node, dependents, edges, count);
}

}  // namespace fairgv::cudart
