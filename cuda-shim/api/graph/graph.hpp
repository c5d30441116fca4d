// A graph: nodes with their work, and edges (CUDA Driver API, "Graph Management"). An object of this process;
// nothing of it reaches the engine before a launch. Guarded by the lock of Graphs, but for the copy that an
// executable graph has (executable.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/graph/topology.hpp"

namespace fairgv::cuda {

class Condition;
class Executable;
class Graph;
class GraphMemory;
class UserObject;

struct EmptyNode {};
/// Addresses as the program gave them. The memory there is looked up at every launch, so that a graph holds
/// no memory.
struct CopyNode {
  CUDA_MEMCPY3D copy{};
};
struct ChildNode {
  std::shared_ptr<Graph> graph;
};
struct AllocateNode {
  std::shared_ptr<GraphMemory> memory;
};
/// Of memory that some graph has allocated.
struct FreeNode {
  CUdeviceptr address = 0;
};
/// Its bodies belong to it, and the program may fill them.
struct ConditionalNode {
  std::shared_ptr<Condition> condition;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<CUgraph> handles;  // of the bodies; the program has a pointer to them
};
using NodeWork = std::variant<EmptyNode, LaunchCommand, CopyNode, FillCommand, HostCommand, ChildNode,
                              RecordCommand, WaitCommand, AllocateNode, FreeNode, ConditionalNode>;

/// The graphs that a node contains.
std::span<const std::shared_ptr<Graph>> inner_graphs(const NodeWork& work);
/// Whether a body of a conditional node may contain that: work of the device alone, at any depth
/// ("CUDA_CONDITIONAL_NODE_PARAMS").
bool fits_in_body(const NodeWork& work);

struct GraphNode {
  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }
  CUgraphNodeType type() const;

  std::uint64_t id = 0;      // unique in this process
  std::uint64_t origin = 0;  // id of the node that this copies; 0: no copy
  Graph* graph = nullptr;    // the owner
  NodeWork work;
  /// In the order in which the edges were made.
  std::vector<GraphNode*> dependencies, dependents;
  /// The array that cuGraphKernelNodeGetParams has handed out: pointers into `work`.
  std::vector<void*> parameter_pointers;
};

class Graph {
 public:
  using Nodes = std::vector<std::shared_ptr<GraphNode>>;
  /// References of a user object that the graph has.
  struct Kept {
    std::shared_ptr<UserObject> object;
    unsigned count = 0;
  };

  CUgraph handle() { return reinterpret_cast<CUgraph>(this); }
  /// In the order of adding.
  const Nodes& nodes() const { return nodes_; }

  /// The dependencies are nodes of this graph, none of them twice.
  const std::shared_ptr<GraphNode>& add(NodeWork work, std::span<GraphNode* const> dependencies);
  /// With its edges.
  void remove(GraphNode& node);
  /// Adds an edge; false: it exists already, or the nodes are the same. / Removes it; false: there is no such
  /// edge.
  static bool connect(GraphNode& from, GraphNode& to);
  static bool disconnect(GraphNode& from, GraphNode& to);

  /// Whether it allocates or frees memory, or has conditional nodes at any depth: such a graph cannot be
  /// cloned or be a part of another one.
  bool is_one_of_a_kind() const { return has_memory_nodes() || has_conditional_nodes(); }
  bool has_memory_nodes() const;
  bool has_conditional_nodes() const;
  /// Whether the other one is this graph, or a part of it at any depth.
  bool holds(const Graph& other) const;
  /// Whether a capture adds to it, or to a part of it.
  bool is_being_captured() const;
  /// Copies child graphs, too. Each new node names the node that it copies.
  std::shared_ptr<Graph> copy() const;
  Dependencies dependencies() const;

  /// Set while the graph belongs to a node of another graph: then the program cannot destroy it.
  bool is_child = false;
  /// A body of a conditional node, or a part of one: it has room for what fits_in_body().
  bool is_in_body = false;
  /// Set while a capture adds to it.
  bool is_captured_into = false;
  std::vector<Kept> kept;
  /// The handles that the program has made for it.
  std::vector<std::shared_ptr<Condition>> conditions;
  /// Made of this graph last. With conditional nodes there may be only one at a time.
  std::weak_ptr<Executable> instance;

 private:
  void enter_body();

  Nodes nodes_;
};

/// A program's object that graphs keep (CUDA Driver API, "cuUserObjectCreate"). Its destructor is the
/// program's function, so its last share must go while no lock is held.
class UserObject {
 public:
  UserObject(void* object, CUhostFn destroy) : object_(object), destroy_(destroy) {}
  ~UserObject();
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

 private:
  void* const object_;
  const CUhostFn destroy_;
};

}  // namespace fairgv::cuda
