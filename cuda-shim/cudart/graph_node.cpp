#include "cuda-shim/cudart/graph_node.hpp"

#include <algorithm>
#include <iterator>

#include "cuda-shim/cudart/copy/copy.hpp"
#include "cuda-shim/cudart/launch.hpp"
#include "cuda-shim/cudart/modules/registry.hpp"
#include "cuda-shim/cudart/modules/symbol.hpp"

namespace fairgv::cudart {
namespace {

Status current_context(const Driver& driver, CUcontext& context) {
  return driver.cuCtxGetCurrent(&context);
}

// cudaKernelNodeParams and cudaKernelNodeParamsV2 have the same fields, and so have the driver's two.
template <class Described, class Parameters>
Status describe_kernel(const Driver& driver, const Parameters& kernel, Described& described) {
  described = {};
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, kernel.func, described.kern));
  described.gridDimX = kernel.gridDim.x;
  described.gridDimY = kernel.gridDim.y;
  described.gridDimZ = kernel.gridDim.z;
  described.blockDimX = kernel.blockDim.x;
  described.blockDimY = kernel.blockDim.y;
  described.blockDimZ = kernel.blockDim.z;
  described.sharedMemBytes = kernel.sharedMemBytes;
  described.kernelParams = kernel.kernelParams;
  described.extra = kernel.extra;
  return current_context(driver, described.ctx);
}

template <class Described, class Parameters>
void describe_memset(const Parameters& memset, Described& described) {
  described = {};
  described.dst = std::bit_cast<CUdeviceptr>(memset.dst);
  described.pitch = memset.pitch;
  described.value = memset.value;
  described.elementSize = memset.elementSize;
  described.width = memset.width;
  described.height = memset.height;
}

// A linear copy in the form of the driver's copy nodes.
Status describe_linear(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind,
                       CUDA_MEMCPY3D& described) {
  Direction direction{};
  FAIRGV_RETURN_IF_FAILED(direction_of(kind, direction));
  described = {};
  described.srcMemoryType = direction.source;
  described.srcHost = source;
  described.srcDevice = std::bit_cast<CUdeviceptr>(source);
  described.srcPitch = count;
  described.dstMemoryType = direction.destination;
  described.dstHost = destination;
  described.dstDevice = std::bit_cast<CUdeviceptr>(destination);
  described.dstPitch = count;
  described.WidthInBytes = count;
  described.Height = 1;
  described.Depth = 1;
  return cudaSuccess;
}

Status describe_node(const Driver& driver, const cudaGraphNodeParams& parameters,
                     CUgraphNodeParams& described) {
  described = {};
  described.type = static_cast<CUgraphNodeType>(parameters.type);
  switch (parameters.type) {
    case cudaGraphNodeTypeKernel:
      return describe_kernel(driver, parameters.kernel, described.kernel);
    case cudaGraphNodeTypeMemcpy:
      described.memcpy.flags = parameters.memcpy.flags;
      FAIRGV_RETURN_IF_FAILED(current_context(driver, described.memcpy.copyCtx));
      return describe_copy(driver, parameters.memcpy.copyParams, described.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      describe_memset(parameters.memset, described.memset);
      return current_context(driver, described.memset.ctx);
    case cudaGraphNodeTypeConditional:
      described.conditional.handle = parameters.conditional.handle;
      described.conditional.type = static_cast<CUgraphConditionalNodeType>(parameters.conditional.type);
      described.conditional.size = parameters.conditional.size;
      return current_context(driver, described.conditional.ctx);
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:  // the same in both APIs
      static_assert(sizeof described.reserved1 == sizeof parameters.reserved1);
      std::copy(std::begin(parameters.reserved1), std::end(parameters.reserved1),
                std::begin(described.reserved1));
      return cudaSuccess;
    default:
      return cudaErrorNotSupported;  // semaphores of other interfaces
  }
}

}  // namespace

Status add_node(const Driver& driver, cudaGraphNode_t* node, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges, std::size_t count,
                cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUgraphNodeParams described;
  FAIRGV_RETURN_IF_FAILED(describe_node(driver, *parameters, described));
  FAIRGV_RETURN_IF_FAILED(pass(driver.cuGraphAddNode, node, graph, dependencies, edges, count, &described));
  // The outputs of adding a node.
  if (parameters->type == cudaGraphNodeTypeMemAlloc)
    parameters->alloc.dptr = std::bit_cast<void*>(described.alloc.dptr);
  if (parameters->type == cudaGraphNodeTypeConditional)
    parameters->conditional.phGraph_out = described.conditional.phGraph_out;
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaGraphNodeSetParams, (cudaGraphNode_t node, cudaGraphNodeParams* parameters),
            (node, parameters)) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUgraphNodeParams described;
  FAIRGV_RETURN_IF_FAILED(describe_node(driver, *parameters, described));
  return driver.cuGraphNodeSetParams(node, &described);
}

FAIRGV_CALL(kContext, cudaGraphExecNodeSetParams,
            (cudaGraphExec_t graph, cudaGraphNode_t node, cudaGraphNodeParams* parameters),
            (graph, node, parameters)) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUgraphNodeParams described;
  FAIRGV_RETURN_IF_FAILED(describe_node(driver, *parameters, described));
  return driver.cuGraphExecNodeSetParams(graph, node, &described);
}

FAIRGV_CALL(kContext, cudaGraphAddKernelNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const cudaKernelNodeParams* kernel),
            (node, graph, dependencies, count, kernel)) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS described;
  FAIRGV_RETURN_IF_FAILED(describe_kernel(driver, *kernel, described));
  return driver.cuGraphAddKernelNode(node, graph, dependencies, count, &described);
}

// The kernel comes back as its stub where it has one, else as a handle that every call here takes.
FAIRGV_CALL(kContext, cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, cudaKernelNodeParams* kernel),
            (node, kernel)) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS described = {};
  FAIRGV_RETURN_IF_FAILED(driver.cuGraphKernelNodeGetParams(node, &described));
  if (described.kern == nullptr) return cudaErrorNotSupported;
  *kernel = {};
  kernel->func = std::bit_cast<void*>(Registry::instance().name_of(described.kern));
  kernel->gridDim = {described.gridDimX, described.gridDimY, described.gridDimZ};
  kernel->blockDim = {described.blockDimX, described.blockDimY, described.blockDimZ};
  kernel->sharedMemBytes = described.sharedMemBytes;
  kernel->kernelParams = described.kernelParams;
  kernel->extra = described.extra;
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaGraphKernelNodeSetParams,
            (cudaGraphNode_t node, const cudaKernelNodeParams* kernel), (node, kernel)) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS described;
  FAIRGV_RETURN_IF_FAILED(describe_kernel(driver, *kernel, described));
  return driver.cuGraphKernelNodeSetParams(node, &described);
}

FAIRGV_CALL(kContext, cudaGraphExecKernelNodeSetParams,
            (cudaGraphExec_t graph, cudaGraphNode_t node, const cudaKernelNodeParams* kernel),
            (graph, node, kernel)) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS described;
  FAIRGV_RETURN_IF_FAILED(describe_kernel(driver, *kernel, described));
  return driver.cuGraphExecKernelNodeSetParams(graph, node, &described);
}

// Copies, in the same three forms each: adding, changing in the graph, changing in the executable graph.
namespace {

Status add_copy(const Driver& driver, cudaGraphNode_t* node, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, std::size_t count, const CUDA_MEMCPY3D& copy) {
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(current_context(driver, context));
  return driver.cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, context);
}

Status set_copy(const Driver& driver, cudaGraphNode_t node, const CUDA_MEMCPY3D& copy) {
  return driver.cuGraphMemcpyNodeSetParams(node, &copy);
}

Status set_copy(const Driver& driver, cudaGraphExec_t graph, cudaGraphNode_t node,
                const CUDA_MEMCPY3D& copy) {
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(current_context(driver, context));
  return driver.cuGraphExecMemcpyNodeSetParams(graph, node, &copy, context);
}

Status describe_box(const Driver& driver, const cudaMemcpy3DParms* copy, CUDA_MEMCPY3D& described) {
  return copy != nullptr ? describe_copy(driver, *copy, described) : Status(cudaErrorInvalidValue);
}

Status describe_to_symbol(const Driver& driver, const void* symbol, const void* source, std::size_t count,
                          std::size_t offset, cudaMemcpyKind kind, CUDA_MEMCPY3D& described) {
  void* memory = nullptr;
  FAIRGV_RETURN_IF_FAILED(symbol_range(driver, symbol, count, offset, memory));
  return describe_linear(memory, source, count, kind, described);
}

Status describe_from_symbol(const Driver& driver, void* destination, const void* symbol, std::size_t count,
                            std::size_t offset, cudaMemcpyKind kind, CUDA_MEMCPY3D& described) {
  void* memory = nullptr;
  FAIRGV_RETURN_IF_FAILED(symbol_range(driver, symbol, count, offset, memory));
  return describe_linear(destination, memory, count, kind, described);
}

}  // namespace

#define FAIRGV_COPY_NODE(add, set, execute, describe, parameters, arguments)                            \
  FAIRGV_CALL(kContext, add,                                                                            \
              (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,          \
               std::size_t degree, FAIRGV_LIST parameters),                                             \
              (node, graph, dependencies, degree, FAIRGV_LIST arguments)) {                             \
    CUDA_MEMCPY3D described;                                                                            \
    FAIRGV_RETURN_IF_FAILED(describe);                                                                  \
    return add_copy(driver, node, graph, dependencies, degree, described);                              \
  }                                                                                                     \
  FAIRGV_CALL(kContext, set, (cudaGraphNode_t node, FAIRGV_LIST parameters),                            \
              (node, FAIRGV_LIST arguments)) {                                                          \
    CUDA_MEMCPY3D described;                                                                            \
    FAIRGV_RETURN_IF_FAILED(describe);                                                                  \
    return set_copy(driver, node, described);                                                           \
  }                                                                                                     \
  FAIRGV_CALL(kContext, execute, (cudaGraphExec_t graph, cudaGraphNode_t node, FAIRGV_LIST parameters), \
              (graph, node, FAIRGV_LIST arguments)) {                                                   \
    CUDA_MEMCPY3D described;                                                                            \
    FAIRGV_RETURN_IF_FAILED(describe);                                                                  \
    return set_copy(driver, graph, node, described);                                                    \
  }
#define FAIRGV_LIST(...) __VA_ARGS__

FAIRGV_COPY_NODE(cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
                 describe_box(driver, copy, described), (const cudaMemcpy3DParms* copy), (copy))
FAIRGV_COPY_NODE(cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D,
                 describe_linear(destination, source, bytes, kind, described),
                 (void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind),
                 (destination, source, bytes, kind))
FAIRGV_COPY_NODE(cudaGraphAddMemcpyNodeToSymbol, cudaGraphMemcpyNodeSetParamsToSymbol,
                 cudaGraphExecMemcpyNodeSetParamsToSymbol,
                 describe_to_symbol(driver, symbol, source, bytes, offset, kind, described),
                 (const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                  cudaMemcpyKind kind),
                 (symbol, source, bytes, offset, kind))
FAIRGV_COPY_NODE(cudaGraphAddMemcpyNodeFromSymbol, cudaGraphMemcpyNodeSetParamsFromSymbol,
                 cudaGraphExecMemcpyNodeSetParamsFromSymbol,
                 describe_from_symbol(driver, destination, symbol, bytes, offset, kind, described),
                 (void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                  cudaMemcpyKind kind),
                 (destination, symbol, bytes, offset, kind))
#undef FAIRGV_COPY_NODE

FAIRGV_CALL(kContext, cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node, cudaMemcpy3DParms* copy),
            (node, copy)) {
  if (copy == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D described = {};
  FAIRGV_RETURN_IF_FAILED(driver.cuGraphMemcpyNodeGetParams(node, &described));
  return describe_copy(driver, described, *copy);
}

FAIRGV_CALL(kContext, cudaGraphAddMemsetNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const cudaMemsetParams* memset),
            (node, graph, dependencies, count, memset)) {
  if (memset == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMSET_NODE_PARAMS described;
  describe_memset(*memset, described);
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(current_context(driver, context));
  return driver.cuGraphAddMemsetNode(node, graph, dependencies, count, &described, context);
}

FAIRGV_CALL(kContext, cudaGraphExecMemsetNodeSetParams,
            (cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemsetParams* memset),
            (graph, node, memset)) {
  if (memset == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMSET_NODE_PARAMS described;
  describe_memset(*memset, described);
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(current_context(driver, context));
  return driver.cuGraphExecMemsetNodeSetParams(graph, node, &described, context);
}

FAIRGV_CALL(kContext, cudaGraphConditionalHandleCreate,
            (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned int initial,
             unsigned int flags),
            (handle, graph, initial, flags)) {
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(current_context(driver, context));
  return pass(driver.cuGraphConditionalHandleCreate, handle, graph, context, initial, flags);
}

}  // namespace fairgv::cudart
