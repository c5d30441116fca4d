// An executable graph: a copy of a graph whose nodes have an order, which can be launched again and again
// (CUDA Driver API, "cuGraphInstantiate", "cuGraphLaunch"). Independent nodes run one after the other, in the
// stream that the graph is launched in.
//
// Any thread may call. A launch holds the graph's own lock and no other, so a launch that has to wait delays
// no other graph.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cuda-shim/api/graph/conditional/conductor.hpp"
#include "cuda-shim/api/graph/step.hpp"

namespace fairgv::cuda {

class Executable {
 public:
  struct Update {
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    GraphNode* node = nullptr;  // of the new graph
    GraphNode* from = nullptr;  // the same
  };

  /// Null: there is a cycle, and `on_cycle` is a node of it.
  static std::shared_ptr<Executable> make(const Graph& graph, unsigned long long flags, GraphNode*& on_cycle);
  explicit Executable(unsigned long long flags) : flags_(flags) {}

  CUgraphExec handle() { return reinterpret_cast<CUgraphExec>(this); }
  unsigned long long flags() const { return flags_; }

  /// Runs behind the commands in the stream and behind the graph's earlier launches.
  CUresult launch(Driver& driver, Context& context, const std::shared_ptr<Stream>& stream);
  /// As a graph by itself, for the capture of a launch.
  std::shared_ptr<Graph> as_graph();

  /// All nodes at once, or none (cuGraphExecUpdate).
  Update update(const Graph& graph);
  /// Changes one node, named by the node of the original graph. CUDA_ERROR_INVALID_VALUE: there is no such
  /// node, or its work may not be changed to that.
  CUresult set_work(const GraphNode& original, NodeWork work);
  /// The nodes of a child graph.
  CUresult set_child(const GraphNode& original, const Graph& graph);

  /// For nodes that can be disabled (cuGraphNodeSetEnabled). CUDA_ERROR_INVALID_VALUE: this node cannot.
  CUresult set_enabled(const GraphNode& original, bool enabled);
  CUresult enabled(const GraphNode& original, bool& enabled);

  /// The stream of the last launch, if that launch must end before this object is destroyed, because it may
  /// use the object's memory. Null: the object may be destroyed at once.
  std::shared_ptr<Stream> needed_until_end_of(const Driver& driver);

 private:
  struct Step;
  using Steps = std::vector<std::unique_ptr<Step>>;
  struct Step {
    GraphNode* node = nullptr;
    bool is_enabled = true;
    Detour detour;              // of a copy
    std::vector<Steps> bodies;  // of a conditional node
  };
  /// A step of a launch, checked.
  struct Checked {
    const Step* step = nullptr;
    FoundPlaces places;  // of a copy
    std::vector<std::vector<Checked>> bodies;
  };
  /// Memory of graphs that the launch allocates or frees: whether it is there at the step that is checked.
  using MemoryThere = std::unordered_map<CUdeviceptr, bool>;
  using Changes = std::vector<std::pair<GraphNode*, const GraphNode*>>;  // a node, and its model

  /// Puts a graph's nodes behind the steps. False: there is a cycle.
  bool plan(Graph& graph, Steps& steps, GraphNode*& on_cycle);
  /// The error of a launch that this step makes impossible. `found`: the places of a copy.
  CUresult check(Driver& driver, Context& context, Step& step, FoundPlaces& found, MemoryThere& there) const;
  CUresult check(Driver& driver, Context& context, const Steps& steps, std::vector<Checked>& checked,
                 MemoryThere& there) const;
  static CUresult enqueue_all(Driver& driver, const std::shared_ptr<Stream>& stream,
                              const std::vector<Checked>& checked);
  static ConditionalPlan plan_of(const Checked& checked);
  std::vector<std::shared_ptr<Condition>> conditions() const;
  Step* step_of(const GraphNode& original);
  GraphNode* node_of(const GraphNode& original);
  static Update compare(const Graph& old_graph, const Graph& new_graph, Changes& changes);

  const unsigned long long flags_;
  std::mutex lock_;  // guards the members below
  std::shared_ptr<Graph> graph_;
  Steps steps_;
  std::unordered_map<std::uint64_t, GraphNode*> nodes_;         // by the id of the original
  std::unordered_map<const GraphNode*, Step*> steps_of_nodes_;  // of all but child graphs
  std::vector<Step*> conditional_steps_;                        // at any depth
  std::shared_ptr<Stream> last_stream_;
};

}  // namespace fairgv::cuda
