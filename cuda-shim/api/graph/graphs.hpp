// All graphs of the process by their handles, and the lock that guards them and what captures them
// (capture.hpp). The lock is held for bookkeeping only, never while something is waited for.
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

class Executable;
class Graph;
class UserObject;
struct GraphNode;

class Graphs {
 public:
  Graphs();
  ~Graphs();

  std::mutex lock;  // guards the graphs, not the tables, which guard themselves

  HandleTable<Graph> graphs;
  HandleTable<GraphNode> nodes;
  HandleTable<Executable> executables;

  /// Gives a graph, its nodes and its child graphs handles. / Takes them away; the graph goes with the last
  /// share of it, which must not be while the lock is held.
  CUgraph enter(const std::shared_ptr<Graph>& graph);
  void leave(Graph& graph);
  /// Has a handle from now on if its graph has.
  void enter_node(const std::shared_ptr<GraphNode>& node);
  void leave_node(GraphNode& node);
  /// Nodes of that graph, all of them and none twice. False: they are not.
  bool find_nodes(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                  std::vector<GraphNode*>& found) const;

  // User objects. With the lock; what is handed out is to be let go without it.

  CUuserObject add_object(std::shared_ptr<UserObject> object, unsigned references);
  /// Null: no such object, or all its references are gone.
  std::shared_ptr<UserObject> find_object(CUuserObject handle) const;
  /// References that the program has. False: it has not so many.
  bool retain_object(CUuserObject handle, unsigned count);
  bool release_object(CUuserObject handle, unsigned count);

 private:
  struct ObjectReferences {
    std::shared_ptr<UserObject> object;  // null: the program has none any more
    std::weak_ptr<UserObject> kept;      // graphs may
    std::uint64_t count = 0;
  };
  std::unordered_map<const void*, ObjectReferences> objects_;
};

}  // namespace fairgv::cuda
