// The first steps of every entry point of graphs.
#pragma once

#include <memory>
#include <mutex>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/graph/executable.hpp"
#include "cuda-shim/api/graph/graph.hpp"
#include "cuda-shim/api/graph/graphs.hpp"

namespace fairgv::cuda {

/// With the lock of the graphs: body(driver, graphs).
template <typename Body>
CUresult with_graphs(const Body& body) noexcept {
  return initialized([&body](Driver& driver) {
    const std::lock_guard guard(driver.graphs.lock);
    return static_cast<CUresult>(body(driver, driver.graphs));
  });
}

/// The same for calls on one graph: body(graphs, graph).
template <typename Body>
CUresult on_graph(CUgraph handle, const Body& body) noexcept {
  return with_graphs([&body, handle](Driver&, Graphs& graphs) {
    const auto graph = graphs.graphs.find(handle);
    return graph ? static_cast<CUresult>(body(graphs, graph)) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// ... and on one node: body(graphs, node).
template <typename Body>
CUresult on_node(CUgraphNode handle, const Body& body) noexcept {
  return with_graphs([&body, handle](Driver&, Graphs& graphs) {
    const auto node = graphs.nodes.find(handle);
    return node ? static_cast<CUresult>(body(graphs, *node)) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// ... and on a node with that kind of work: body(graphs, node, work).
template <typename Kind, typename Body>
CUresult on_node_of(CUgraphNode handle, const Body& body) noexcept {
  return on_node(handle, [&body](Graphs& graphs, GraphNode& node) {
    Kind* const work = std::get_if<Kind>(&node.work);
    return work != nullptr ? static_cast<CUresult>(body(graphs, node, *work)) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// ... and on an executable graph and the node that it was made of: body(executable, node).
template <typename Body>
CUresult on_executable_node(CUgraphExec handle, CUgraphNode node_handle, const Body& body) noexcept {
  return on_node(node_handle, [&body, handle](Graphs& graphs, GraphNode& node) {
    const auto executable = graphs.executables.find(handle);
    return executable ? static_cast<CUresult>(body(*executable, node)) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Whether the edges carry no data. Edge data asks for less than a whole node, which nothing here supports.
inline bool are_default(const CUgraphEdgeData* edges, std::size_t count) {
  for (std::size_t at = 0; edges != nullptr && at < count; ++at) {
    if (edges[at].from_port != 0 || edges[at].to_port != 0 || edges[at].type != 0) return false;
  }
  return true;
}

}  // namespace fairgv::cuda
