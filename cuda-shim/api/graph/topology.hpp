// The shape of a graph, as numbers: an order in which its nodes may run, and which nodes of two graphs
// correspond (CUDA Driver API, "Graph Management", cuGraphExecUpdate). Pure logic.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fairgv::cuda {

/// For each node, in the order of adding: its dependencies, in the order in which they were declared. No node
/// appears twice in one list.
using Dependencies = std::vector<std::vector<std::size_t>>;

struct TopologicalOrder {
  /// All nodes, each behind its dependencies. Among possible next nodes the earliest added comes first. Empty
  /// if there is a cycle.
  std::vector<std::size_t> nodes;
  /// One of the nodes of a cycle, if there is one.
  std::optional<std::size_t> on_cycle;
};
TopologicalOrder topological_order(const Dependencies& graph);

struct Pairing {
  /// For each node of the new graph, its node of the old graph. Empty: the graphs do not correspond.
  std::vector<std::size_t> old_of_new;
  bool corresponds = false;
  /// Where the graphs differ, in the new graph: a node, and a dependency of it. Nothing: the number of nodes
  /// differs.
  std::optional<std::size_t> node, from;
};
/// Pairs exit nodes in the order of their adding, then dependencies in theirs. Both graphs are free of
/// cycles.
Pairing pair_nodes(const Dependencies& old_graph, const Dependencies& new_graph);

}  // namespace fairgv::cuda
