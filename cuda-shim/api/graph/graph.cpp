#include "cuda-shim/api/graph/graph.hpp"

#include <algorithm>
#include <atomic>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/graph/conditional/condition.hpp"

namespace fairgv::cuda {
namespace {

std::uint64_t new_node_id() {
  static std::atomic<std::uint64_t> next{1};  // relaxed: only uniqueness counts
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// The node is removed, and all that is in it: its handles may be used for others.
void give_back_conditions(const NodeWork& work) {
  if (const auto* const conditional = std::get_if<ConditionalNode>(&work))
    conditional->condition->is_used = false;
  for (const auto& inner : inner_graphs(work)) {
    for (const auto& node : inner->nodes()) give_back_conditions(node->work);
  }
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
    CUgraphNodeType operator()(const ConditionalNode&) const { return CU_GRAPH_NODE_TYPE_CONDITIONAL; }
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
  for (const auto& inner : inner_graphs(node->work)) {
    inner->is_child = true;
    if (is_in_body) inner->enter_body();
  }
  if (auto* const conditional = std::get_if<ConditionalNode>(&node->work)) {
    for (const auto& body : conditional->bodies) body->is_in_body = true;
  }
  return nodes_.emplace_back(std::move(node));
}

void Graph::remove(GraphNode& node) {
  give_back_conditions(node.work);
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
    if (auto* const conditional = std::get_if<ConditionalNode>(&work)) {
      for (auto& body : conditional->bodies) body = body->copy();
    }
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

void Graph::enter_body() {
  is_in_body = true;
  for (const auto& node : nodes_) {
    for (const auto& inner : inner_graphs(node->work)) inner->enter_body();
  }
}

namespace {

template <typename Predicate>
bool any_inner(const Graph::Nodes& nodes, const Predicate& predicate) {
  return std::ranges::any_of(
      nodes, [&](const auto& node) { return std::ranges::any_of(inner_graphs(node->work), predicate); });
}

}  // namespace

bool Graph::has_conditional_nodes() const {
  return std::ranges::any_of(
             nodes_, [](const auto& node) { return std::holds_alternative<ConditionalNode>(node->work); }) ||
         any_inner(nodes_, [](const auto& inner) { return inner->has_conditional_nodes(); });
}

bool Graph::holds(const Graph& other) const {
  return this == &other || any_inner(nodes_, [&other](const auto& inner) { return inner->holds(other); });
}

bool Graph::is_being_captured() const {
  return is_captured_into || any_inner(nodes_, [](const auto& inner) { return inner->is_being_captured(); });
}

std::span<const std::shared_ptr<Graph>> inner_graphs(const NodeWork& work) {
  if (const auto* const child = std::get_if<ChildNode>(&work)) return {&child->graph, 1};
  if (const auto* const conditional = std::get_if<ConditionalNode>(&work)) return conditional->bodies;
  return {};
}

bool fits_in_body(const NodeWork& work) {
  const bool is_of_device =
      std::holds_alternative<EmptyNode>(work) || std::holds_alternative<LaunchCommand>(work) ||
      std::holds_alternative<CopyNode>(work) || std::holds_alternative<FillCommand>(work);
  return is_of_device ||
         (!inner_graphs(work).empty() && std::ranges::all_of(inner_graphs(work), [](const auto& inner) {
           return std::ranges::all_of(inner->nodes(),
                                      [](const auto& node) { return fits_in_body(node->work); });
         }));
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
