// The shape of a graph, as numbers: an order in which its nodes may run, and which nodes of two graphs
// correspond (CUDA Driver API, "Graph Management", cuGraphExecUpdate). Pure logic.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fairgv::cuda {

/// For each node, in the order in which nodes were added, those that it depends on, in the order in which
/// that was said. No node is named twice in one list.
using Dependencies = std::vector<std::vector<std::size_t>>;

struct TopologicalOrder {
  /// All nodes, each behind those that it depends on; among those that may come next, the first that was
  /// added does. Empty if there is a cycle.
  std::vector<std::size_t> nodes;
  /// One of the nodes of a cycle, if there is one.
  std::optional<std::size_t> on_cycle;
};
TopologicalOrder topological_order(const Dependencies& graph);

struct Pairing {
  /// For each node of the new graph, the one of the old graph. Empty: they do not correspond.
  std::vector<std::size_t> old_of_new;
  bool corresponds = false;
  /// Where they differ, in the new graph: a node, and the dependency of it. Nothing: in the number of nodes.
  std::optional<std::size_t> node, from;
};
/// Pairs exit nodes in the order of their adding, then dependencies in theirs. Both graphs are free of
/// cycles.
Pairing pair_nodes(const Dependencies& old_graph, const Dependencies& new_graph);

}  // namespace fairgv::cuda
