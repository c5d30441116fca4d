// The work of nodes, made from the API's structures, and back. Errors in it are reported when the node is
// made.
#pragma once

#include "cuda-shim/api/graph/graph.hpp"

namespace fairgv::cuda {

/// Call without the lock of the graphs: a function may have to be loaded first. A null context is the current
/// one.
CUresult kernel_work(Driver& driver, const CUDA_KERNEL_NODE_PARAMS& p, NodeWork& work);
CUresult copy_work(Driver& driver, const CUDA_MEMCPY3D& p, CUcontext context, NodeWork& work);
CUresult fill_work(Driver& driver, const CUDA_MEMSET_NODE_PARAMS& p, CUcontext context, NodeWork& work);
CUresult host_work(const CUDA_HOST_NODE_PARAMS& p, NodeWork& work);
template <typename Command>
CUresult event_work(Driver& driver, CUevent handle, NodeWork& work) {
  auto event = driver.events.find(handle);
  if (!event) return CUDA_ERROR_INVALID_VALUE;
  work = Command{std::move(event), true};
  return CUDA_SUCCESS;
}
/// A child graph is copied. CUDA_ERROR_NOT_SUPPORTED: no node can do that here.
/// An allocation fills in its address, a conditional node its bodies.
CUresult any_work(Driver& driver, CUgraphNodeParams& p, NodeWork& work);
/// The memory is of the current context, and goes with the work.
CUresult allocate_work(Driver& driver, CUDA_MEM_ALLOC_NODE_PARAMS& p, NodeWork& work);
CUresult free_work(Driver& driver, CUdeviceptr address, NodeWork& work);

/// Whether the graph may get such a node. With the lock of the graphs.
CUresult check_place(const Graph& graph, const NodeWork& work);

/// Nodes that allocate or free, and conditional ones: they cannot be changed.
constexpr bool stays_as_it_is(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
         type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/// Keeps a node's attributes when its parameters are set.
void keep_attributes(const NodeWork& before, NodeWork& after);

/// The node owns the arguments; they stay valid until they are set.
CUDA_KERNEL_NODE_PARAMS describe(GraphNode& node, LaunchCommand& launch);
CUDA_MEMSET_NODE_PARAMS describe(const FillCommand& command);

}  // namespace fairgv::cuda
