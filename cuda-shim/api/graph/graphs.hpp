// All graphs of the process by their handles, and the lock that guards them and their captures (capture.hpp).
// The lock is held for bookkeeping only, never during a wait.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/handle_table.hpp"

namespace fairgv::cuda {

class Condition;
class Executable;
class Graph;
class UserObject;
struct GraphNode;

class Graphs {
 public:
  Graphs();
  ~Graphs();

  std::mutex lock;  // guards the graphs; the tables guard themselves

  HandleTable<Graph> graphs;
  HandleTable<GraphNode> nodes;
  HandleTable<Executable> executables;
  HandleTable<Condition> conditions;  // by their handles

  /// Gives a graph, its nodes and its child graphs handles. / Takes the handles away. The graph is destroyed
  /// with its last share, which must not be dropped while the lock is held.
  CUgraph enter(const std::shared_ptr<Graph>& graph);
  void leave(Graph& graph);
  /// Gives the node a handle if its graph has one.
  void enter_node(const std::shared_ptr<GraphNode>& node);
  void leave_node(GraphNode& node);
  /// Gives a condition of the graph its handle. / Null: there is none of that handle.
  CUgraphConditionalHandle enter_condition(Graph& graph, const std::shared_ptr<Condition>& condition);
  std::shared_ptr<Condition> find_condition(CUgraphConditionalHandle handle) const;
  /// Finds the nodes of the handles. False: a node is not of that graph, or appears twice.
  bool find_nodes(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                  std::vector<GraphNode*>& found) const;

  // User objects. Called with the lock; release the returned objects without it.

  CUuserObject add_object(std::shared_ptr<UserObject> object, unsigned references);
  /// Null: no such object, or all its references are gone.
  std::shared_ptr<UserObject> find_object(CUuserObject handle) const;
  /// References of the program. False: it does not have so many.
  bool retain_object(CUuserObject handle, unsigned count);
  bool release_object(CUuserObject handle, unsigned count);

 private:
  struct ObjectReferences {
    std::shared_ptr<UserObject> object;  // null: the program has no reference left
    std::weak_ptr<UserObject> kept;      // graphs may have some
    std::uint64_t count = 0;
  };
  std::unordered_map<const void*, ObjectReferences> objects_;
};

}  // namespace fairgv::cuda
