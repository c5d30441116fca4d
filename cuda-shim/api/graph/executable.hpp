// An executable graph: a copy of a graph whose nodes have an order, which can be launched again and again
// (CUDA Driver API, "cuGraphInstantiate", "cuGraphLaunch"). Nodes that depend on none another run one after
// the other, in the stream that the graph is launched in.
//
// Any thread may call; a launch holds the graph's own lock and no other, so that one that has to wait holds
// up nobody else.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cuda-shim/api/graph/detour.hpp"
#include "cuda-shim/api/graph/graph.hpp"

namespace fairgv::cuda {

class Executable {
 public:
  struct Update {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    GraphNode* node = nullptr;  // of the new graph
    GraphNode* from = nullptr;  // the same
  };

  /// Null: there is a cycle, on which `on_cycle` is.
  static std::shared_ptr<Executable> make(const Graph& graph, unsigned long long flags, GraphNode*& on_cycle);
  explicit Executable(unsigned long long flags) : flags_(flags) {}

  CUgraphExec handle() { return reinterpret_cast<CUgraphExec>(this); }
  unsigned long long flags() const { return flags_; }

  /// Behind what is in the stream and behind its launches before.
  CUresult launch(Driver& driver, Context& context, const std::shared_ptr<Stream>& stream);
  /// As a graph by itself, for the capture of a launch.
  std::shared_ptr<Graph> as_graph();

  /// All nodes at once, or none (cuGraphExecUpdate).
  Update update(const Graph& graph);
  /// One node, by the node of the graph that this was made of. CUDA_ERROR_INVALID_VALUE: it has none such, or
  /// its work may not be changed to that.
  CUresult set_work(const GraphNode& original, NodeWork work);
  /// The nodes of a child graph.
  CUresult set_child(const GraphNode& original, const Graph& graph);

  /// Only of nodes that can be disabled (cuGraphNodeSetEnabled). CUDA_ERROR_INVALID_VALUE: it cannot.
  CUresult set_enabled(const GraphNode& original, bool enabled);
  CUresult enabled(const GraphNode& original, bool& enabled);

  /// The stream of the last launch, if that must have ended before this goes: it may use what this holds.
  /// Null: it may go at once.
  std::shared_ptr<Stream> needed_until_end_of(const Driver& driver);

 private:
  struct Step {
    GraphNode* node = nullptr;
    bool is_enabled = true;
    Detour detour;  // of a copy
  };
  /// What a copy's addresses mean at this launch.
  struct FoundPlaces {
    Place to, from;
    Extent extent;
  };
  using Changes = std::vector<std::pair<GraphNode*, const GraphNode*>>;  // a node, and what it is to be like

  /// Puts a graph's nodes behind the steps. False: there is a cycle.
  bool plan(Graph& graph, GraphNode*& on_cycle);
  /// What a launch answers that a step makes impossible. `found`: of a copy.
  static CUresult check(Driver& driver, Context& context, Step& step, FoundPlaces& found);
  Step* step_of(const GraphNode& original);
  GraphNode* node_of(const GraphNode& original);
  static Update compare(const Graph& old_graph, const Graph& new_graph, Changes& changes);

  const unsigned long long flags_;
  std::mutex lock_;  // guards what follows
  std::shared_ptr<Graph> graph_;
  std::vector<Step> steps_;
  std::unordered_map<std::uint64_t, GraphNode*> nodes_;             // by the id of the original
  std::unordered_map<const GraphNode*, std::size_t> step_numbers_;  // of all but child graphs
  std::shared_ptr<Stream> last_stream_;
};

}  // namespace fairgv::cuda
