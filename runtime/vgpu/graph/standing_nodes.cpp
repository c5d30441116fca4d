// CommandGraph::standing(): all that would have to be queued again elsewhere.
#include <algorithm>
#include <unordered_map>

#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {

std::vector<CommandGraph::Standing> CommandGraph::standing(std::span<const NodePtr> external) const {
  std::vector<Standing> all;
  for (const NodePtr& node : external) all.push_back({node});
  for (const Node* node = first_pending_; node != nullptr; node = node->next_) {
    if (!node->stays_behind) all.push_back({node->self_, node->error_, node->failed_wait_});
  }
  // The list has the latest first.
  std::reverse(all.begin() + static_cast<std::ptrdiff_t>(external.size()), all.end());
  std::unordered_map<const Node*, std::uint32_t> places;
  for (std::uint32_t place = 0; place < all.size(); ++place) places.emplace(all[place].node.get(), place);
  std::vector<std::uint32_t> edges(all.size());
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    for (const Node::Edge& edge : all[place].node->dependents_) {
      const std::uint32_t to = places.at(edge.to.get());
      ++edges[to];
      // The order of a queue is made again by queueing in the same order.
      if (edge.is_explicit) all[to].waits.push_back(place);
    }
  }
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    if (all[place].node->unended_ > edges[place]) all[place].waits.push_back(kNever);
  }
  return all;
}

std::vector<NodePtr> CommandGraph::under_way() const {
  std::vector<NodePtr> all;
  for (const Node* node = first_pending_; node != nullptr; node = node->next_) {
    if (node->was_issued_) all.push_back(node->self_);
  }
  return all;
}

}  // namespace fairgv::vgpu
