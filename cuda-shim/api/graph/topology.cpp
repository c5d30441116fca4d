#include "cuda-shim/api/graph/topology.hpp"

#include <functional>
#include <queue>
#include <utility>

namespace fairgv::cuda {
namespace {

constexpr std::size_t kUnpaired = static_cast<std::size_t>(-1);

/// Nodes on which no other node depends, in order.
std::vector<std::size_t> exit_nodes(const Dependencies& graph) {
  std::vector<bool> needed(graph.size(), false);
  for (const auto& dependencies : graph) {
    for (const std::size_t from : dependencies) needed[from] = true;
  }
  std::vector<std::size_t> exits;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    if (!needed[node]) exits.push_back(node);
  }
  return exits;
}

/// Each node that still waits depends on another such node, so following the dependencies leads into a cycle.
std::size_t find_cycle(const Dependencies& graph, const std::vector<std::size_t>& left) {
  std::size_t node = 0;
  while (left[node] == 0) ++node;
  std::vector<bool> seen(graph.size(), false);
  while (!seen[node]) {
    seen[node] = true;
    for (const std::size_t from : graph[node]) {
      if (left[from] == 0) continue;
      node = from;
      break;
    }
  }
  return node;
}

}  // namespace

TopologicalOrder topological_order(const Dependencies& graph) {
  std::vector<std::vector<std::size_t>> dependents(graph.size());
  std::vector<std::size_t> left(graph.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    for (const std::size_t from : graph[node]) dependents[from].push_back(node);
    left[node] = graph[node].size();
    if (left[node] == 0) ready.push(node);
  }
  TopologicalOrder order;
  while (!ready.empty()) {
    const std::size_t node = ready.top();
    ready.pop();
    order.nodes.push_back(node);
    for (const std::size_t next : dependents[node]) {
      if (--left[next] == 0) ready.push(next);
    }
  }
  if (order.nodes.size() == graph.size()) return order;
  order.nodes.clear();
  order.on_cycle = find_cycle(graph, left);
  return order;
}

Pairing pair_nodes(const Dependencies& old_graph, const Dependencies& new_graph) {
  Pairing result;
  if (old_graph.size() != new_graph.size()) return result;
  const auto differ = [&result](std::size_t node, std::optional<std::size_t> from = std::nullopt) {
    result.old_of_new.clear();
    result.node = node;
    result.from = from;
    return result;
  };
  const auto old_exits = exit_nodes(old_graph);
  const auto new_exits = exit_nodes(new_graph);
  if (new_exits.size() > old_exits.size()) return differ(new_exits[old_exits.size()]);
  if (new_exits.size() < old_exits.size()) return result;
  result.old_of_new.assign(new_graph.size(), kUnpaired);
  std::vector<bool> old_is_paired(old_graph.size(), false);
  std::queue<std::size_t> next;  // paired nodes of the new graph
  const auto pair = [&](std::size_t old_node, std::size_t new_node) {
    if (result.old_of_new[new_node] == old_node) return true;
    if (result.old_of_new[new_node] != kUnpaired || old_is_paired[old_node]) return false;
    result.old_of_new[new_node] = old_node;
    old_is_paired[old_node] = true;
    next.push(new_node);
    return true;
  };
  for (std::size_t at = 0; at < new_exits.size(); ++at) pair(old_exits[at], new_exits[at]);
  for (; !next.empty(); next.pop()) {
    const std::size_t node = next.front();
    const auto& from_old = old_graph[result.old_of_new[node]];
    const auto& from_new = new_graph[node];
    if (from_old.size() != from_new.size()) return differ(node);
    for (std::size_t at = 0; at < from_new.size(); ++at) {
      if (!pair(from_old[at], from_new[at])) return differ(node, from_new[at]);
    }
  }
  result.corresponds = true;
  return result;
}

}  // namespace fairgv::cuda
