// Entry points: graphs, their edges, and queries about both (CUDA Driver API, "Graph Management").
#include <algorithm>

#include "cuda-shim/api/graph/dot.hpp"
#include "cuda-shim/api/graph/entry/graph_entry.hpp"

namespace fairgv::cuda {
namespace {

/// Hands out a list as the API does: the number alone, or entries as far as there is room, the rest null.
CUresult hand_out(const std::vector<GraphNode*>& list, CUgraphNode* out, std::size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (out != nullptr) {
    for (std::size_t at = 0; at < *count; ++at) out[at] = at < list.size() ? list[at]->handle() : nullptr;
  }
  *count = out == nullptr ? list.size() : std::min(*count, list.size());
  return CUDA_SUCCESS;
}

CUresult hand_out(const std::vector<GraphNode*>& list, CUgraphNode* out, CUgraphEdgeData* edges,
                  std::size_t* count) {
  if (edges != nullptr && out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult code = hand_out(list, out, count);
  if (code == CUDA_SUCCESS && edges != nullptr) std::fill_n(edges, *count, CUgraphEdgeData{});
  return code;
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                      const CUgraphEdgeData* edges, std::size_t count,
                      bool (*change)(GraphNode&, GraphNode&)) {
  return on_graph(handle, [=](Graphs& graphs, const std::shared_ptr<Graph>& graph) {
    if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (!are_default(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    for (std::size_t at = 0; at < count; ++at) {
      const auto source = graphs.nodes.find(from[at]);
      const auto target = graphs.nodes.find(to[at]);
      const bool known = source && target && source->graph == graph.get() && target->graph == graph.get();
      if (!known || !change(*source, *target)) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuGraphCreate(CUgraph* handle, unsigned int flags) {
  return with_graphs([=](Driver&, Graphs& graphs) {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = graphs.enter(std::make_shared<Graph>());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph handle) {
  return initialized([=](Driver& driver) {
    std::shared_ptr<Graph> graph;  // goes without the lock
    const std::lock_guard guard(driver.graphs.lock);
    graph = driver.graphs.graphs.find(handle);
    if (!graph || graph->is_child || graph->is_being_captured()) return CUDA_ERROR_INVALID_VALUE;
    driver.graphs.leave(*graph);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphClone(CUgraph* clone, CUgraph handle) {
  return on_graph(handle, [=](Graphs& graphs, const std::shared_ptr<Graph>& graph) {
    if (clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (graph->is_one_of_a_kind()) return CUDA_ERROR_NOT_SUPPORTED;
    *clone = graphs.enter(graph->copy());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  return on_node(original, [=](Graphs& graphs, GraphNode& node) {
    const auto graph = graphs.graphs.find(clone);
    if (found == nullptr || !graph) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& other : graph->nodes()) {
      if (other->origin != node.id) continue;
      *found = other->handle();
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode handle) {
  return initialized([=](Driver& driver) {
    std::shared_ptr<GraphNode> node;  // goes without the lock
    const std::lock_guard guard(driver.graphs.lock);
    node = driver.graphs.nodes.find(handle);
    if (!node || node->graph->is_captured_into) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& inner : inner_graphs(node->work)) {
      if (inner->is_being_captured()) return CUDA_ERROR_INVALID_VALUE;
    }
    driver.graphs.leave_node(*node);
    node->graph->remove(*node);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph handle, CUgraphNode* out, std::size_t* count) {
  return on_graph(handle, [=](Graphs&, const std::shared_ptr<Graph>& graph) {
    std::vector<GraphNode*> list;
    for (const auto& node : graph->nodes()) list.push_back(node.get());
    return hand_out(list, out, count);
  });
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph handle, CUgraphNode* out, std::size_t* count) {
  return on_graph(handle, [=](Graphs&, const std::shared_ptr<Graph>& graph) {
    std::vector<GraphNode*> list;
    for (const auto& node : graph->nodes()) {
      if (node->dependencies.empty()) list.push_back(node.get());
    }
    return hand_out(list, out, count);
  });
}

CUresult CUDAAPI cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges,
                                 std::size_t* count) {
  return on_graph(handle, [=](Graphs&, const std::shared_ptr<Graph>& graph) {
    if ((from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<GraphNode*> sources;
    std::vector<GraphNode*> targets;
    for (const auto& node : graph->nodes()) {
      sources.insert(sources.end(), node->dependencies.begin(), node->dependencies.end());
      targets.resize(sources.size(), node.get());
    }
    const std::size_t room = count != nullptr ? *count : 0;
    const CUresult code = hand_out(sources, from, edges, count);
    if (code != CUDA_SUCCESS || to == nullptr) return code;
    *count = room;
    return hand_out(targets, to, count);
  });
}

CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* edges,
                                            std::size_t* count) {
  return on_node(
      handle, [=](Graphs&, const GraphNode& node) { return hand_out(node.dependencies, out, edges, count); });
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* edges,
                                              std::size_t* count) {
  return on_node(
      handle, [=](Graphs&, const GraphNode& node) { return hand_out(node.dependents, out, edges, count); });
}

CUresult CUDAAPI cuGraphAddDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                        const CUgraphEdgeData* edges, std::size_t count) {
  return change_edges(handle, from, to, edges, count, &Graph::connect);
}

CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                           const CUgraphEdgeData* edges, std::size_t count) {
  return change_edges(handle, from, to, edges, count, &Graph::disconnect);
}

CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int) {
  return on_graph(handle, [=](Graphs&, const std::shared_ptr<Graph>& graph) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return write_dot(*graph, path) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult CUDAAPI cuUserObjectCreate(CUuserObject* handle, void* object, CUhostFn destroy,
                                    unsigned int references, unsigned int flags) {
  return with_graphs([=](Driver&, Graphs& graphs) {
    const bool counted = references != 0 && references <= INT32_MAX;
    if (handle == nullptr || destroy == nullptr || !counted || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
      return CUDA_ERROR_INVALID_VALUE;
    *handle = graphs.add_object(std::make_shared<UserObject>(object, destroy), references);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject handle, unsigned int count) {
  return with_graphs([=](Driver&, Graphs& graphs) {
    const bool counted = count != 0 && count <= INT32_MAX;
    return counted && graphs.retain_object(handle, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject handle, unsigned int count) {
  return initialized([=](Driver& driver) {
    std::shared_ptr<UserObject> object;  // goes without the lock
    const std::lock_guard guard(driver.graphs.lock);
    object = driver.graphs.find_object(handle);
    const bool counted = count != 0 && count <= INT32_MAX;
    return counted && driver.graphs.release_object(handle, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count,
                                         unsigned int flags) {
  return on_graph(graph_handle, [=](Graphs& graphs, const std::shared_ptr<Graph>& graph) {
    const auto object = graphs.find_object(handle);
    if (!object || count == 0 || count > INT32_MAX || (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) != 0 && !graphs.release_object(handle, count))
      return CUDA_ERROR_INVALID_VALUE;
    const auto same = std::ranges::find(graph->kept, object, &Graph::Kept::object);
    if (same == graph->kept.end()) {
      graph->kept.push_back({object, count});
    } else {
      same->count += count;
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count) {
  return initialized([=](Driver& driver) {
    std::shared_ptr<UserObject> object;  // goes without the lock
    const std::lock_guard guard(driver.graphs.lock);
    object = driver.graphs.find_object(handle);
    const auto graph = driver.graphs.graphs.find(graph_handle);
    if (!graph || !object || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto same = std::ranges::find(graph->kept, object, &Graph::Kept::object);
    if (same == graph->kept.end() || same->count < count) return CUDA_ERROR_INVALID_VALUE;
    same->count -= count;
    if (same->count == 0) graph->kept.erase(same);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
