// Entry points: executable graphs, made, changed and ended (CUDA Driver API, "Graph Management"). Their
// launch is in stream/graph.cpp.
#include <algorithm>

#include "cuda-shim/api/graph/conditional/condition.hpp"
#include "cuda-shim/api/graph/entry/graph_entry.hpp"
#include "cuda-shim/api/graph/instantiate.hpp"
#include "cuda-shim/api/graph/node_work.hpp"

namespace fairgv::cuda {
namespace {

template <typename Make>
CUresult set_in(CUgraphExec handle, CUgraphNode node_handle, const Make& make) noexcept {
  return initialized([&](Driver& driver) {
    NodeWork work;
    if (const CUresult code = make(driver, work); code != CUDA_SUCCESS) return code;
    const std::lock_guard guard(driver.graphs.lock);
    const auto executable = driver.graphs.executables.find(handle);
    const auto node = driver.graphs.nodes.find(node_handle);
    if (!executable || !node) return CUDA_ERROR_INVALID_VALUE;
    if (const auto* const child = std::get_if<ChildNode>(&work))
      return executable->set_child(*node, *child->graph);
    return executable->set_work(*node, std::move(work));
  });
}

bool has_unused_conditions(const Graph& graph) {
  if (!std::ranges::all_of(graph.conditions, &Condition::is_used)) return true;
  return std::ranges::any_of(graph.nodes(), [](const auto& node) {
    return std::ranges::any_of(inner_graphs(node->work),
                               [](const auto& inner) { return has_unused_conditions(*inner); });
  });
}

/// Whether the program has an executable graph of it. Launches of a destroyed one may be under way.
bool is_instantiated(const Graphs& graphs, const Graph& graph) {
  const auto instance = graph.instance.lock();
  return instance && graphs.executables.find(instance.get()) != nullptr;
}

}  // namespace

CUresult instantiate(CUgraphExec* handle, CUgraph graph_handle, unsigned long long flags,
                     CUDA_GRAPH_INSTANTIATE_PARAMS& result) {
  constexpr unsigned long long kServed = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  result.hErrNode_out = nullptr;
  result.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  return on_graph(graph_handle, [&](Graphs& graphs, const std::shared_ptr<Graph>& graph) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if ((flags & ~kServed) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (graph->is_being_captured()) return CUDA_ERROR_ILLEGAL_STATE;
    if (has_unused_conditions(*graph)) {
      result.result_out = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (graph->has_conditional_nodes() && is_instantiated(graphs, *graph)) return CUDA_ERROR_NOT_SUPPORTED;
    GraphNode* on_cycle = nullptr;
    auto executable = Executable::make(*graph, flags, on_cycle);
    if (!executable) {
      result.result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
      result.hErrNode_out = on_cycle != nullptr ? on_cycle->handle() : nullptr;
      return CUDA_ERROR_INVALID_VALUE;
    }
    result.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    graph->instance = executable;
    *handle = reinterpret_cast<CUgraphExec>(graphs.executables.add(std::move(executable)));
    return CUDA_SUCCESS;
  });
}

extern "C" {

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec* handle, CUgraph graph, unsigned long long flags) {
  CUDA_GRAPH_INSTANTIATE_PARAMS result{};
  return instantiate(handle, graph, flags, result);
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  return with_graphs([=](Driver&, Graphs& graphs) {
    const auto executable = graphs.executables.find(handle);
    if (!executable || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = executable->flags() & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    return CUDA_SUCCESS;
  });
}

// Memory that launches under way still use is freed when they have ended.
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec handle) {
  return initialized([=](Driver& driver) {
    const auto executable = driver.graphs.executables.take(handle);
    if (!executable) return CUDA_ERROR_INVALID_VALUE;
    if (const auto stream = executable->needed_until_end_of(driver)) {
      const auto let_go = [executable](CUresult) {};
      driver.scheduler.run_on_host(stream, let_go, true);
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec handle, CUgraph graph_handle,
                                   CUgraphExecUpdateResultInfo* info) {
  if (info != nullptr) *info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  return on_graph(graph_handle, [=](Graphs& graphs, const std::shared_ptr<Graph>& graph) {
    const auto executable = graphs.executables.find(handle);
    if (!executable || info == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Executable::Update update = executable->update(*graph);
    info->result = update.result;
    info->errorNode = update.node != nullptr ? update.node->handle() : nullptr;
    info->errorFromNode = update.from != nullptr ? update.from->handle() : nullptr;
    return update.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                         : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr || stays_as_it_is(p->type)) return CUDA_ERROR_INVALID_VALUE;
  return set_in(handle, node, [p](Driver& driver, NodeWork& work) { return any_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set_in(handle, node, [p](Driver& driver, NodeWork& work) { return kernel_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_MEMCPY3D* p,
                                                CUcontext context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set_in(handle, node,
                [=](Driver& driver, NodeWork& work) { return copy_work(driver, *p, context, work); });
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS* p, CUcontext context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set_in(handle, node,
                [=](Driver& driver, NodeWork& work) { return fill_work(driver, *p, context, work); });
}

CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                              const CUDA_HOST_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set_in(handle, node, [p](Driver&, NodeWork& work) { return host_work(*p, work); });
}

CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraph child) {
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_GRAPH;
  p.graph.graph = child;
  return cuGraphExecNodeSetParams(handle, node, &p);
}

CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec handle, CUgraphNode node, CUevent event) {
  return set_in(handle, node, [event](Driver& driver, NodeWork& work) {
    return event_work<RecordCommand>(driver, event, work);
  });
}

CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec handle, CUgraphNode node, CUevent event) {
  return set_in(handle, node, [event](Driver& driver, NodeWork& work) {
    return event_work<WaitCommand>(driver, event, work);
  });
}

CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int enabled) {
  return on_executable_node(handle, node, [enabled](Executable& executable, const GraphNode& original) {
    return executable.set_enabled(original, enabled != 0);
  });
}

CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int* enabled) {
  return on_executable_node(handle, node, [enabled](Executable& executable, const GraphNode& original) {
    bool is_enabled = false;
    if (enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult code = executable.enabled(original, is_enabled);
    if (code == CUDA_SUCCESS) *enabled = is_enabled ? 1 : 0;
    return code;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
