// CommandGraph::collect_moving(): finds the nodes that end by themselves.
#include <unordered_map>

#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {

/// Goes from the nodes that wait for nothing to the nodes that wait only for nodes already reached.
void CommandGraph::collect_moving(std::vector<NodePtr>& moving) const {
  std::unordered_map<const Node*, std::uint32_t> left;        // of what the node waits for, not reached yet
  std::unordered_map<const Lane*, std::size_t> reached_here;  // how many of an in-order lane's line
  std::vector<Node*> agenda;                                  // wait for nothing but the nodes before them
  const std::size_t first = moving.size();
  std::size_t next = first;
  for (Node* node = first_pending_; node != nullptr; node = node->next_) {
    left.emplace(node, node->unended_);
    if (node->unended_ == 0) agenda.push_back(node);
  }
  const auto reach = [&](Node& node) { moving.push_back(node.self_); };
  const auto look_at = [&](Node& node) {
    if (node.program_ends) return;
    if (!node.lane_->in_order_) return reach(node);
    const auto& line = node.lane_->line_;
    for (std::size_t& here = reached_here[node.lane_.get()]; here < line.size(); ++here) {
      if (line[here]->program_ends || left.at(line[here].get()) != 0) break;
      reach(*line[here]);
    }
  };
  while (!agenda.empty()) {
    Node& node = *agenda.back();
    agenda.pop_back();
    look_at(node);
    for (; next < moving.size(); ++next) {
      for (const Node::Edge& edge : moving[next]->dependents_) {
        if (--left.at(edge.to.get()) == 0) agenda.push_back(edge.to.get());
      }
    }
  }
}

}  // namespace fairgv::vgpu
