// Which function of a module may call which: by name, through pointers, and from itself. A call through a
// pointer may reach every function whose address is taken anywhere in the module and whose parameters have
// the same sizes (PTX ISA, "call"; a .calltargets list is not needed, and its functions have their address
// taken).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda-shim/softcuda/translate/module_symbols.hpp"
#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda {

/// Sizes in bytes of a function's results and parameters: what a call through a pointer must agree on.
struct Signature {
  std::vector<std::uint64_t> results, parameters;
  bool operator==(const Signature&) const = default;
};
Signature signature_of(const slicing::ptx::Function& function);

class CallGraph {
 public:
  using Function = slicing::ptx::Function;

  /// Both must outlive this object.
  CallGraph(const slicing::ptx::Module& module, const ModuleSymbols& symbols);

  /// The functions with a body that a call through a pointer may reach.
  std::vector<const Function*> targets(const Signature& signature) const;
  /// Whether `to` may be running again before a call of `from` has returned.
  bool reaches(const Function& from, const Function& to) const;
  /// Whether the function, or one that it may call, asks for the barrier of the grid (%envreg1, %envreg2:
  /// where cooperative groups find it).
  bool waits_for_grid(const Function& function) const;

 private:
  struct Node {
    std::set<const Function*> callees;
    bool calls_through_pointers = false;
    bool waits_for_grid = false;
  };
  std::set<const Function*> reached_from(const Function& from) const;
  void read(const Function& function);
  void read(const slicing::ptx::Block& block, Node& node);
  void read(const slicing::ptx::Instruction& instruction, Node& node);
  void take_addresses(const slicing::ptx::Operand& operand);

  const ModuleSymbols& symbols_;
  std::map<const Function*, Node> nodes_;
  std::vector<const Function*> with_address_;  // in the order in which they were found
};

}  // namespace fairgv::softcuda
