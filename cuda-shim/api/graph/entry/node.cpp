// Entry points: nodes, added, queried and changed (CUDA Driver API, "Graph Management").
#include "cuda-shim/api/graph/conditional/condition.hpp"
#include "cuda-shim/api/graph/entry/graph_entry.hpp"
#include "cuda-shim/api/graph/graph_memory.hpp"
#include "cuda-shim/api/graph/node_work.hpp"

namespace fairgv::cuda {
namespace {

/// The dependencies of a new node.
struct Before {
  const CUgraphNode* nodes;
  std::size_t count;
  const CUgraphEdgeData* edges = nullptr;
};

/// make(driver, work) makes the node's work.
template <typename Make>
CUresult add(CUgraphNode* node, CUgraph handle, const Before& before, const Make& make) noexcept {
  return initialized([&](Driver& driver) {
    if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!are_default(before.edges, before.count)) return CUDA_ERROR_NOT_SUPPORTED;
    NodeWork work;
    if (const CUresult code = make(driver, work); code != CUDA_SUCCESS) return code;
    const std::lock_guard guard(driver.graphs.lock);
    const auto graph = driver.graphs.graphs.find(handle);
    std::vector<GraphNode*> dependencies;
    if (!graph || !driver.graphs.find_nodes(*graph, before.nodes, before.count, dependencies))
      return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult code = check_place(*graph, work); code != CUDA_SUCCESS) return code;
    const auto& added = graph->add(std::move(work), dependencies);
    if (const auto* const conditional = std::get_if<ConditionalNode>(&added->work))
      conditional->condition->is_used = true;
    driver.graphs.enter_node(added);
    *node = added->handle();
    return CUDA_SUCCESS;
  });
}

/// The type of a node stays, and so does a child graph: its nodes are changed one by one.
template <typename Make>
CUresult set(CUgraphNode handle, const Make& make) noexcept {
  return initialized([&](Driver& driver) {
    NodeWork work;  // in the end the node's former work, destroyed without the lock
    if (const CUresult code = make(driver, work); code != CUDA_SUCCESS) return code;
    const std::lock_guard guard(driver.graphs.lock);
    const auto node = driver.graphs.nodes.find(handle);
    if (!node || node->work.index() != work.index() || std::holds_alternative<ChildNode>(work))
      return CUDA_ERROR_INVALID_VALUE;
    keep_attributes(node->work, work);
    std::swap(node->work, work);
    return CUDA_SUCCESS;
  });
}

template <typename Command>
CUresult event_of(CUgraphNode handle, CUevent* event) noexcept {
  return on_node_of<Command>(handle, [event](Graphs&, GraphNode&, const Command& command) {
    if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *event = reinterpret_cast<CUevent>(command.event.get());
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                const CUgraphEdgeData* edges, std::size_t count, CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, {before, count, edges},
             [p](Driver& driver, NodeWork& work) { return any_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr || stays_as_it_is(p->type)) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [p](Driver& driver, NodeWork& work) { return any_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return on_node(handle, [type](Graphs&, const GraphNode& node) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = node.type();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                     std::size_t count) {
  return add(node, graph, {before, count}, [](Driver&, NodeWork&) { return CUDA_SUCCESS; });
}

CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                      std::size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, {before, count},
             [p](Driver& driver, NodeWork& work) { return kernel_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* p) {
  return on_node_of<LaunchCommand>(handle, [p](Graphs&, GraphNode& node, LaunchCommand& launch) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = describe(node, launch);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [p](Driver& driver, NodeWork& work) { return kernel_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID which,
                                               CUkernelNodeAttrValue* value) {
  return on_node_of<LaunchCommand>(handle, [=](Graphs&, GraphNode&, const LaunchCommand& launch) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *value = {};
    switch (which) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        value->cooperative = launch.shape.cooperative ? 1 : 0;
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = launch.shape.priority;
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        value->clusterDim = {launch.shape.cluster[0], launch.shape.cluster[1], launch.shape.cluster[2]};
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID which,
                                               const CUkernelNodeAttrValue* value) {
  return with_graphs([=](Driver& driver, Graphs& graphs) {
    const auto node = graphs.nodes.find(handle);
    auto* const launch = node ? std::get_if<LaunchCommand>(&node->work) : nullptr;
    if (launch == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape = launch->shape;
    CUresult code = take_attribute(which, *value, shape);
    const Function& function = *launch->function;
    if (code == CUDA_SUCCESS) code = check_shape(driver, function.module().device(), function, shape);
    if (code == CUDA_SUCCESS) launch->shape = shape;
    return code;
  });
}

CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return with_graphs([=](Driver&, Graphs& graphs) {
    const auto target = graphs.nodes.find(to);
    const auto source = graphs.nodes.find(from);
    if (!target || !source || target->type() != CU_GRAPH_NODE_TYPE_KERNEL ||
        source->type() != CU_GRAPH_NODE_TYPE_KERNEL) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    keep_attributes(source->work, target->work);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                      std::size_t count, const CUDA_MEMCPY3D* p, CUcontext context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, {before, count},
             [p, context](Driver& driver, NodeWork& work) { return copy_work(driver, *p, context, work); });
}

CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* p) {
  return on_node_of<CopyNode>(handle, [p](Graphs&, GraphNode&, const CopyNode& node) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = node.copy;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [p](Driver& driver, NodeWork& work) { return copy_work(driver, *p, nullptr, work); });
}

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                      std::size_t count, const CUDA_MEMSET_NODE_PARAMS* p,
                                      CUcontext context) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, {before, count},
             [p, context](Driver& driver, NodeWork& work) { return fill_work(driver, *p, context, work); });
}

CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* p) {
  return on_node_of<FillCommand>(handle, [p](Graphs&, GraphNode&, const FillCommand& command) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = describe(command);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [p](Driver& driver, NodeWork& work) { return fill_work(driver, *p, nullptr, work); });
}

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                    std::size_t count, const CUDA_HOST_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, {before, count}, [p](Driver&, NodeWork& work) { return host_work(*p, work); });
}

CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* p) {
  return on_node_of<HostCommand>(handle, [p](Graphs&, GraphNode&, const HostCommand& command) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = {command.function, command.data};
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [p](Driver&, NodeWork& work) { return host_work(*p, work); });
}

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                          std::size_t count, CUgraph child) {
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_GRAPH;
  p.graph.graph = child;
  return cuGraphAddNode(node, graph, before, nullptr, count, &p);
}

CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  return on_node_of<ChildNode>(handle, [graph](Graphs&, GraphNode&, const ChildNode& child) {
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *graph = child.graph->handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                        std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, {before, count},
             [p](Driver& driver, NodeWork& work) { return allocate_work(driver, *p, work); });
}

CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return on_node_of<AllocateNode>(handle, [p](Graphs&, GraphNode&, const AllocateNode& node) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *p = node.memory->parameters();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                       std::size_t count, CUdeviceptr address) {
  return add(node, graph, {before, count},
             [address](Driver& driver, NodeWork& work) { return free_work(driver, address, work); });
}

CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* address) {
  return on_node_of<FreeNode>(handle, [address](Graphs&, GraphNode&, const FreeNode& node) {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = node.address;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                           std::size_t count, CUevent event) {
  return add(node, graph, {before, count}, [event](Driver& driver, NodeWork& work) {
    return event_work<RecordCommand>(driver, event, work);
  });
}

CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return event_of<RecordCommand>(node, event);
}

CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set(node, [event](Driver& driver, NodeWork& work) {
    return event_work<RecordCommand>(driver, event, work);
  });
}

CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                         std::size_t count, CUevent event) {
  return add(node, graph, {before, count}, [event](Driver& driver, NodeWork& work) {
    return event_work<WaitCommand>(driver, event, work);
  });
}

CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return event_of<WaitCommand>(node, event);
}

CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set(
      node, [event](Driver& driver, NodeWork& work) { return event_work<WaitCommand>(driver, event, work); });
}

}  // extern "C"
}  // namespace fairgv::cuda
