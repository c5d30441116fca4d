#include "cuda-shim/api/graph/graphs.hpp"

#include <algorithm>

#include "cuda-shim/api/graph/conditional/condition.hpp"
#include "cuda-shim/api/graph/executable.hpp"
#include "cuda-shim/api/graph/graph.hpp"

namespace fairgv::cuda {

namespace {

const void* as_pointer(CUgraphConditionalHandle handle) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(handle));
}

}  // namespace

Graphs::Graphs() = default;
Graphs::~Graphs() = default;

CUgraph Graphs::enter(const std::shared_ptr<Graph>& graph) {
  graphs.add(graph);
  for (const auto& node : graph->nodes()) enter_node(node);
  return graph->handle();
}

void Graphs::leave(Graph& graph) {
  for (const auto& node : graph.nodes()) leave_node(*node);
  for (const auto& condition : graph.conditions) conditions.take(as_pointer(condition->handle()));
  graphs.take(graph.handle());
}

void Graphs::enter_node(const std::shared_ptr<GraphNode>& node) {
  nodes.add(node);
  for (const auto& inner : inner_graphs(node->work)) enter(inner);
}

void Graphs::leave_node(GraphNode& node) {
  for (const auto& inner : inner_graphs(node.work)) leave(*inner);
  nodes.take(node.handle());
}

CUgraphConditionalHandle Graphs::enter_condition(Graph& graph, const std::shared_ptr<Condition>& condition) {
  graph.conditions.push_back(condition);
  conditions.add_as(as_pointer(condition->handle()), condition);
  return condition->handle();
}

std::shared_ptr<Condition> Graphs::find_condition(CUgraphConditionalHandle handle) const {
  return conditions.find(as_pointer(handle));
}

bool Graphs::find_nodes(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                        std::vector<GraphNode*>& found) const {
  if (count != 0 && handles == nullptr) return false;
  for (std::size_t at = 0; at < count; ++at) {
    const auto node = nodes.find(handles[at]);
    if (!node || node->graph != &graph || std::ranges::find(found, node.get()) != found.end()) return false;
    found.push_back(node.get());
  }
  return true;
}

CUuserObject Graphs::add_object(std::shared_ptr<UserObject> object, unsigned references) {
  std::erase_if(objects_, [](const auto& entry) { return entry.second.kept.expired(); });
  const void* const name = object.get();
  std::weak_ptr<UserObject> kept = object;
  objects_.insert_or_assign(name, ObjectReferences{std::move(object), std::move(kept), references});
  return static_cast<CUuserObject>(const_cast<void*>(name));
}

std::shared_ptr<UserObject> Graphs::find_object(CUuserObject handle) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second.kept.lock();
}

bool Graphs::retain_object(CUuserObject handle, unsigned count) {
  const auto found = objects_.find(handle);
  if (found == objects_.end()) return false;
  ObjectReferences& references = found->second;
  if (!references.object) references.object = references.kept.lock();
  references.count += count;
  return references.object != nullptr;
}

bool Graphs::release_object(CUuserObject handle, unsigned count) {
  const auto found = objects_.find(handle);
  if (found == objects_.end() || found->second.count < count) return false;
  found->second.count -= count;
  if (found->second.count == 0) found->second.object.reset();
  return true;
}

}  // namespace fairgv::cuda
