// The parameters of graph nodes (CUDA Runtime API, "Graph Management"), in the driver's terms.
#ifndef FAIRGV_CUDA_SHIM_CUDART_GRAPH_NODE_HPP
#define FAIRGV_CUDA_SHIM_CUDART_GRAPH_NODE_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// Adds a node of any kind, with data for its incoming edges or null.
Status add_node(const Driver& driver, cudaGraphNode_t* node, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges, std::size_t count,
                cudaGraphNodeParams* parameters);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_GRAPH_NODE_HPP
