// The state of one flattening, and its steps: declarations and names are in flatten.cpp, statements and calls
// in flatten_code.cpp. Private to the two.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cuda-shim/softcuda/translate/call_graph.hpp"
#include "cuda-shim/softcuda/translate/flatten.hpp"
#include "cuda-shim/softcuda/translate/flow/lockstep.hpp"
#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda {

class Flattener {
 public:
  using Function = slicing::ptx::Function;

  Flattener(const Function& entry, const ModuleSymbols& symbols, const CallGraph& graph,
            const RefusedTargets& refused)
      : entry_(entry), symbols_(symbols), graph_(graph), refused_(refused) {}
  std::variant<Flattened, FlattenError> run();

 private:
  // The meaning of the names in one block.
  struct Scope {
    std::map<std::string, Argument> names;
    std::map<std::string, std::pair<std::uint32_t, unsigned>> families;  // "%r" of %r<5>: count and bits
  };

  // ---- declarations
  void entry_parameters();
  void entry_directive(const slicing::ptx::Directive& directive);
  Argument name_memory(const std::string& name, Memory memory);
  Argument name_own_memory(const std::string& name, Memory memory);
  void declare(const slicing::ptx::Variable& variable, int line);
  Argument shared(const std::string& key, Memory memory);
  Argument new_register(unsigned bits);
  int new_label() { return result_.kernel.labels++; }

  // ---- names
  Argument resolve(const std::string& name);
  Argument convert(const slicing::ptx::Operand& operand);

  // ---- statements
  void body(const slicing::ptx::Block& block, int end);
  bool branch_targets(const std::string& name, const slicing::ptx::Statement& next);
  void place_label(int id);
  void add(const slicing::ptx::Instruction& instruction, int line, int end);
  void transfer_matrix(FlatInstruction flat);
  void add_stop(FlatInstruction at, const char* name);

  // ---- calls
  void call(const slicing::ptx::Instruction& instruction, FlatInstruction flat);
  void call_device(const slicing::ptx::Instruction& instruction, FlatInstruction flat,
                   const std::string& name, const std::vector<Argument>& returns,
                   const std::vector<Argument>& arguments);
  void inline_call(const FlatInstruction& flat, const Function& function,
                   const std::vector<Argument>& returns, const std::vector<Argument>& arguments);
  void call_by_jump(FlatInstruction flat, const Argument& pointer,
                    const std::vector<const Function*>& targets, const std::vector<Argument>& returns,
                    const std::vector<Argument>& arguments);
  int frame_of(const Function& function);
  void write_frame(int number);
  void link_calls();
  void skip_unless(const FlatInstruction& flat, int end);
  Argument label_argument(int label) const;
  Argument targets_argument(std::vector<int> labels);

  void fail(int line, const std::string& instruction, const std::string& message);

  const Function& entry_;
  const ModuleSymbols& symbols_;
  const CallGraph& graph_;
  const RefusedTargets& refused_;
  Flattened result_;
  std::vector<Scope> scopes_;
  std::size_t scope_floor_ = 0;         // the first scope of the function that is being inlined
  std::vector<const Function*> calls_;  // the kernel or a function with a frame, and what is inlined in it
  int frame_ = -1;                      // the function with a frame that is being written; -1: the kernel
  std::uint64_t frame_bytes_ = 0;       // its variables so far, in the blocks that are open
  std::map<const Function*, int> frames_;
  std::vector<std::size_t> leaves_;  // instructions "call.leave", by frame
  Lockstep lockstep_;
  std::map<std::string, Argument> statics_;
  std::uint64_t local_bytes_ = 0;
  std::uint64_t shared_bytes_ = 0;
  bool failed_ = false;
  TranslationError error_;
};

}  // namespace fairgv::softcuda
