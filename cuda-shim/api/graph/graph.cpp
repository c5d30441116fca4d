#include "cuda-shim/api/graph/graph.hpp"

#include <algorithm>
#include <atomic>

#include "cuda-shim/api/context.hpp"

namespace fairgv::cuda {
namespace {

std::uint64_t new_node_id() {
  static std::atomic<std::uint64_t> next{1};  // relaxed: only uniqueness counts
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

CUgraphNodeType GraphNode::type() const {
  struct Type {
    CUgraphNodeType operator()(const EmptyNode&) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const LaunchCommand&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const CopyNode&) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const FillCommand&) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostCommand&) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const ChildNode&) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const RecordCommand&) const { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const WaitCommand&) const { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const AllocateNode&) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    CUgraphNodeType operator()(const FreeNode&) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
  };
  return std::visit(Type{}, work);
}

const std::shared_ptr<GraphNode>& Graph::add(NodeWork work, std::span<GraphNode* const> dependencies) {
  auto node = std::make_shared<GraphNode>();
  node->id = new_node_id();
  node->graph = this;
  node->work = std::move(work);
  node->dependencies.assign(dependencies.begin(), dependencies.end());
  for (GraphNode* const from : dependencies) from->dependents.push_back(node.get());
  if (const auto* const child = std::get_if<ChildNode>(&node->work)) child->graph->is_child = true;
  return nodes_.emplace_back(std::move(node));
}

void Graph::remove(GraphNode& node) {
  for (GraphNode* const from : node.dependencies) std::erase(from->dependents, &node);
  for (GraphNode* const to : node.dependents) std::erase(to->dependencies, &node);
  std::erase_if(nodes_, [&node](const auto& other) { return other.get() == &node; });
}

bool Graph::connect(GraphNode& from, GraphNode& to) {
  if (&from == &to || std::ranges::find(to.dependencies, &from) != to.dependencies.end()) return false;
  to.dependencies.push_back(&from);
  from.dependents.push_back(&to);
  return true;
}

bool Graph::disconnect(GraphNode& from, GraphNode& to) {
  if (std::erase(to.dependencies, &from) == 0) return false;
  std::erase(from.dependents, &to);
  return true;
}

bool Graph::has_memory_nodes() const {
  return std::ranges::any_of(nodes_, [](const auto& node) {
    return std::holds_alternative<AllocateNode>(node->work) || std::holds_alternative<FreeNode>(node->work);
  });
}

std::shared_ptr<Graph> Graph::copy() const {
  auto made = std::make_shared<Graph>();
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    NodeWork work = node->work;
    if (auto* const child = std::get_if<ChildNode>(&work)) child->graph = child->graph->copy();
    GraphNode& twin = *made->add(std::move(work), {});
    twin.origin = node->id;
    copies.emplace(node.get(), &twin);
  }
  // After all nodes, because an edge may come from a node that was added later.
  const auto twins_of = [&copies](const std::vector<GraphNode*>& nodes) {
    std::vector<GraphNode*> twins;
    for (const GraphNode* const node : nodes) twins.push_back(copies.at(node));
    return twins;
  };
  for (const auto& node : nodes_) {
    copies.at(node.get())->dependencies = twins_of(node->dependencies);
    copies.at(node.get())->dependents = twins_of(node->dependents);
  }
  made->kept = kept;
  return made;
}

Dependencies Graph::dependencies() const {
  std::unordered_map<const GraphNode*, std::size_t> numbers;
  for (const auto& node : nodes_) numbers.emplace(node.get(), numbers.size());
  Dependencies result(nodes_.size());
  for (const auto& node : nodes_) {
    auto& list = result[numbers.at(node.get())];
    for (const GraphNode* const from : node->dependencies) list.push_back(numbers.at(from));
  }
  return result;
}

UserObject::~UserObject() {
  const bool was_inside = in_host_function();
  in_host_function() = true;
  destroy_(object_);
  in_host_function() = was_inside;
}

}  // namespace fairgv::cuda
