#include "cuda-shim/api/graph/graphs.hpp"

#include <algorithm>

#include "cuda-shim/api/graph/executable.hpp"
#include "cuda-shim/api/graph/graph.hpp"

namespace fairgv::cuda {

Graphs::Graphs() = default;
Graphs::~Graphs() = default;

CUgraph Graphs::enter(const std::shared_ptr<Graph>& graph) {
  graphs.add(graph);
  for (const auto& node : graph->nodes()) enter_node(node);
  return graph->handle();
}

void Graphs::leave(Graph& graph) {
  for (const auto& node : graph.nodes()) leave_node(*node);
  graphs.take(graph.handle());
}

void Graphs::enter_node(const std::shared_ptr<GraphNode>& node) {
  nodes.add(node);
  if (const auto* const child = std::get_if<ChildNode>(&node->work)) enter(child->graph);
}

void Graphs::leave_node(GraphNode& node) {
  if (const auto* const child = std::get_if<ChildNode>(&node.work)) leave(*child->graph);
  nodes.take(node.handle());
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
