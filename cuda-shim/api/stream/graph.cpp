// Entry points: graphs launched in streams (CUDA Driver API, "Graph Management"), and streams captured into
// graphs ("Stream Management"). Compiled twice: stream_entry.hpp.
#include "cuda-shim/api/graph/entry/graph_entry.hpp"
#include "cuda-shim/api/graph/instantiate.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

bool is_mode(CUstreamCaptureMode mode) {
  return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return on_stream(stream_handle,
                   [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) -> CUresult {
                     const auto executable = driver.graphs.executables.find(handle);
                     if (!executable) return CUDA_ERROR_INVALID_VALUE;
                     CUresult code = CUDA_SUCCESS;
                     if (driver.captures.any() && driver.captures.take(driver, stream, *executable, code))
                       return code;
                     const auto context = driver.contexts.find(stream->group()->owner());
                     if (!context) return CUDA_ERROR_INVALID_CONTEXT;
                     return executable->launch(driver, *context, stream);
                   });
}

// There is nothing to prepare on the device.
CUresult CUDAAPI cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  return on_stream(stream_handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>&) {
    return driver.graphs.executables.find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec* handle, CUgraph graph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return instantiate(handle, graph, parameters->flags, *parameters);
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (!is_mode(mode)) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard guard(driver.graphs.lock);
    return driver.captures.begin(stream, mode, nullptr, {});
  });
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle,
                                             const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                             std::size_t count, CUstreamCaptureMode mode) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (!is_mode(mode)) return CUDA_ERROR_INVALID_VALUE;
    if (!are_default(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    const std::lock_guard guard(driver.graphs.lock);
    const auto graph = driver.graphs.graphs.find(graph_handle);
    std::vector<GraphNode*> tips;
    if (!graph || graph->is_captured_into || !driver.graphs.find_nodes(*graph, dependencies, count, tips)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return driver.captures.begin(stream, mode, graph, std::move(tips));
  });
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (graph != nullptr) *graph = nullptr;
    return driver.captures.end(stream, graph);
  });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Captures::Info info;
    const CUresult code = driver.captures.any() ? driver.captures.info(stream, info) : CUDA_SUCCESS;
    if (code == CUDA_SUCCESS) *status = info.status;
    return code;
  });
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                        CUgraph* graph, const CUgraphNode** nodes,
                                        const CUgraphEdgeData** edges, std::size_t* count) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (status == nullptr || (edges != nullptr && nodes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    Captures::Info info;
    const CUresult code = driver.captures.any() ? driver.captures.info(stream, info) : CUDA_SUCCESS;
    if (code != CUDA_SUCCESS) return code;
    *status = info.status;
    if (id != nullptr) *id = info.id;
    if (graph != nullptr) *graph = info.graph;
    if (nodes != nullptr) *nodes = info.tips;
    if (edges != nullptr) *edges = info.edges;
    if (count != nullptr) *count = info.count;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes,
                                                   const CUgraphEdgeData* edges, std::size_t count,
                                                   unsigned int flags) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
    if (!are_default(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    return driver.captures.update_tips(stream, nodes, count, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
