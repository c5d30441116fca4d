// The calls among the functions of a PTX module, and their consequences for slicing: which entries can be
// sliced, and which functions must get the launch's values from their callers. Private to the PTX slicer.
//
// A function *keeps* its parameters if it may have unseen callers: through its address, from another module,
// by another name. Such a function reads the registers themselves, so an entry that calls it and needs other
// values cannot be sliced.
//
// Calls may form cycles; every answer here is the smallest consistent one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "slicing/ptx/model.hpp"
#include "slicing/ptx_slicing/function_facts.hpp"

namespace fairgv::slicing::ptx {

struct Node {
  const Function* definition = nullptr;  // nothing if the body is elsewhere
  FunctionFacts facts;
  bool entry = false;
  bool keeps = false;              // see above; entries that are launched by device code keep theirs too
  GridValues reads = 0;            // with all that it calls
  std::string obstacle;            // with all that it calls; empty: sliceable
  std::vector<std::size_t> calls;  // nodes
  bool calls_pointers = false;
  bool called_from_sliced = false;  // a sliceable entry reaches it (entries: it is one)

  /// Its copy gets the values from its caller, and so has more parameters than the original.
  bool takes_values() const { return called_from_sliced && !keeps && !entry && reads != 0; }
};

class CallGraph {
 public:
  /// The module must live as long as this.
  CallGraph(const Module& module, bool linked);

  const Node* find(const std::string& name) const;

  /// Marks an entry that cannot be sliced for a reason outside of the module's calls.
  void refuse_entry(const std::string& name, std::string obstacle);
  /// After the last refusal: finds what sliceable entries reach.
  void finish();

  /// The first function that is defined twice, or nothing.
  const Function* duplicate() const { return duplicate_; }

 private:
  std::size_t node(const std::string& name);
  void add_functions(const Module& module, bool linked);
  void resolve_calls();
  void mark_addresses(const Module& module, std::vector<bool>& taken);
  void add_reads();
  void add_obstacles(const std::vector<bool>& taken, bool linked);
  std::string obstacle_of_call(const Node& caller, std::size_t callee) const;
  std::string obstacle_of_pointers(const std::vector<bool>& taken, bool linked) const;

  std::vector<Node> nodes_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_name_;
  const Function* duplicate_ = nullptr;
};

}  // namespace fairgv::slicing::ptx
