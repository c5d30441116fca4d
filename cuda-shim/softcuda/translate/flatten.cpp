#include "cuda-shim/softcuda/translate/flatten.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "slicing/ptx/printer.hpp"

namespace fairgv::softcuda {
namespace {

using slicing::ptx::Block;
using slicing::ptx::Directive;
using slicing::ptx::Function;
using slicing::ptx::Instruction;
using slicing::ptx::Label;
using slicing::ptx::Operand;
using slicing::ptx::Statement;
using slicing::ptx::Variable;

constexpr std::size_t kMostInstructions = 400'000;  // after inlining
constexpr std::size_t kDeepestCall = 64;
constexpr std::uint64_t kMostParameterBytes = 32764;
constexpr std::uint64_t kMostLocalBytes = 512 * 1024;  // CUDA's limit per thread

// The meaning of the names in one block.
struct Scope {
  std::map<std::string, Argument> names;
  std::map<std::string, std::pair<std::uint32_t, unsigned>> families;  // "%r" of %r<5>: count and bits
};

class Flattener {
 public:
  Flattener(const Function& entry, const ModuleSymbols& symbols) : entry_(entry), symbols_(symbols) {}

  std::variant<Flattened, TranslationError> run() {
    result_.info.name = entry_.name;
    scopes_.emplace_back();
    entry_parameters();
    for (const Directive& directive : entry_.directives) entry_directive(directive);
    calls_.push_back(&entry_);
    if (entry_.body) body(*entry_.body, -1);
    if (failed_) return error_;
    result_.info.constant_bytes = symbols_.constant_bytes();
    result_.info.local_bytes = static_cast<std::uint32_t>(local_bytes_);
    result_.info.static_shared_bytes = static_cast<std::uint32_t>(shared_bytes_);
    return std::move(result_);
  }

 private:
  // ---- declarations

  void entry_parameters() {
    std::uint64_t offset = 0;
    for (const Variable& parameter : entry_.parameters) {
      offset = round_up(offset, alignment_of(parameter));
      const std::uint64_t size = size_of(parameter);
      if (!scalar_type(parameter.type)) {
        return fail(entry_.span.line, ".param ." + parameter.type + " " + parameter.name,
                    "parameters of this type are not supported");
      }
      name_memory(parameter.name, {Memory::Space::kKernelParam, offset, size, alignment_of(parameter)});
      result_.info.parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size),
                                         static_cast<std::uint32_t>(alignment_of(parameter))});
      offset += size;
      if (offset > 32764)
        return fail(entry_.span.line, parameter.name, "the parameters are larger than 32764 bytes");
    }
    result_.info.parameter_bytes = static_cast<std::uint32_t>(offset);
  }

  void entry_directive(const Directive& directive) {
    std::uint32_t* into = directive.name == "maxntid"   ? result_.info.max_threads
                          : directive.name == "reqntid" ? result_.info.required_threads
                                                        : nullptr;
    if (into == nullptr) return;
    for (int i = 0; i < 3; ++i) into[i] = 1;
    int dimension = 0;
    for (const std::string& word : directive.words) {
      if (word != "," && dimension < 3)
        into[dimension++] = static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 0));
    }
  }

  Argument name_memory(const std::string& name, Memory memory) {
    Argument argument;
    argument.kind = Argument::Kind::kMemory;
    argument.id = static_cast<int>(result_.kernel.memories.size());
    result_.kernel.memories.push_back(memory);
    if (!name.empty()) scopes_.back().names[name] = argument;
    return argument;
  }

  void declare(const Variable& variable, int line) {
    const auto type = scalar_type(variable.type);
    const std::string what = "." + variable.space + " ." + variable.type + " " + variable.name;
    if (!type) return fail(line, what, "variables of this type are not supported");
    if (!std::has_single_bit(alignment_of(variable)) || alignment_of(variable) > 4096) {
      return fail(line, what, "no alignment");
    }
    if (variable.space == "reg") {
      if (variable.vector_length != 1) return fail(line, what, "vector registers are not supported");
      if (variable.count) {
        scopes_.back().families[variable.name] = {*variable.count, type->bits};
      } else {
        scopes_.back().names[variable.name] = new_register(type->bits);
      }
    } else if (variable.space == "local") {
      local_bytes_ = round_up(local_bytes_, alignment_of(variable));
      name_memory(variable.name,
                  {Memory::Space::kLocal, local_bytes_, size_of(variable), alignment_of(variable)});
      local_bytes_ += size_of(variable);
      if (local_bytes_ > kMostLocalBytes) fail(line, what, "more than 512 KiB of .local per thread");
    } else if (variable.space == "param") {
      if (size_of(variable) > kMostParameterBytes)
        return fail(line, what, "a parameter larger than 32764 bytes");
      name_memory(variable.name, {Memory::Space::kCallParam, 0, std::max<std::uint64_t>(8, size_of(variable)),
                                  alignment_of(variable)});
    } else if (variable.space.starts_with("shared")) {
      scopes_.back().names[variable.name] =
          shared(calls_.back()->name + "/" + variable.name,
                 {Memory::Space::kShared, 0, size_of(variable), alignment_of(variable)});
    } else {
      fail(line, what, "variables of this space are not supported inside functions");
    }
  }

  // One instance per kernel, however often the function that declares it is inlined.
  Argument shared(const std::string& key, Memory memory) {
    const auto known = statics_.find(key);
    if (known != statics_.end()) return known->second;
    if (!memory.dynamic_shared) {
      memory.offset = round_up(shared_bytes_, memory.alignment);
      shared_bytes_ = memory.offset + memory.size;
      if (shared_bytes_ > 256 * 1024) fail(entry_.span.line, key, "more than 256 KiB of .shared");
    }
    return statics_[key] = name_memory("", memory);
  }

  Argument new_register(unsigned bits) {
    Argument argument;
    argument.kind = Argument::Kind::kRegister;
    argument.id = static_cast<int>(result_.kernel.registers.size());
    result_.kernel.registers.push_back({bits});
    return argument;
  }

  int new_label() { return result_.kernel.labels++; }

  // ---- names

  Argument resolve(const std::string& name) {
    for (std::size_t i = scopes_.size(); i-- > scope_floor_;) {
      const auto found = scopes_[i].names.find(name);
      if (found != scopes_[i].names.end()) return found->second;
      const std::size_t digits = name.find_last_not_of("0123456789") + 1;
      const auto family = scopes_[i].families.find(name.substr(0, digits));
      if (family == scopes_[i].families.end() || digits == name.size() || name.size() - digits > 9) continue;
      if (std::stoul(name.substr(digits)) >= family->second.first) continue;
      return scopes_[i].names[name] = new_register(family->second.second);
    }
    if (const Memory* memory = symbols_.memory(name)) {
      if (memory->space == Memory::Space::kShared) return shared(name, *memory);
      if (!statics_.contains(name)) statics_[name] = name_memory("", *memory);
      return statics_[name];
    }
    Argument argument;
    argument.text = name;
    if (name == "_") argument.kind = Argument::Kind::kSink;
    if (name.starts_with('%') || name == "WARP_SZ") argument.kind = Argument::Kind::kSpecial;
    return argument;
  }

  Argument convert(const Operand& operand) {
    Argument argument;
    switch (operand.kind) {
      case Operand::Kind::kName:
        argument = resolve(operand.text);
        argument.offset += operand.offset;
        break;
      case Operand::Kind::kInteger:
        argument.kind = Argument::Kind::kInteger;
        break;
      case Operand::Kind::kFloat:
        argument.kind = Argument::Kind::kFloat;
        break;
      case Operand::Kind::kVector:
        argument.kind = Argument::Kind::kVector;
        break;
      case Operand::Kind::kAddress:
        argument.kind = Argument::Kind::kAddress;
        break;
      case Operand::Kind::kPair:
        argument.kind = Argument::Kind::kPair;
        break;
      default:
        break;
    }
    if (operand.kind != Operand::Kind::kName) argument.text = operand.text;
    argument.bits = operand.bits;
    argument.single = operand.single;
    argument.negated = operand.negated;
    for (const Operand& part : operand.parts) argument.parts.push_back(convert(part));
    return argument;
  }

  // ---- statements

  // `end` is the label that a function's ret goes to; -1 in an entry, where it is exit.
  void body(const Block& block, int end) {
    scopes_.emplace_back();
    for (std::size_t i = 0; i < block.statements.size(); ++i) {
      if (const Label* label = std::get_if<Label>(&block.statements[i].content)) {
        Argument argument;
        argument.kind = Argument::Kind::kLabel;
        argument.id = new_label();
        scopes_.back().names[label->name] = argument;
      }
    }
    for (std::size_t i = 0; i < block.statements.size() && !failed_; ++i) {
      const Statement& statement = block.statements[i];
      if (const Block* inner = std::get_if<Block>(&statement.content)) {
        body(*inner, end);
      } else if (const Variable* variable = std::get_if<Variable>(&statement.content)) {
        declare(*variable, statement.span.line);
      } else if (const Label* label = std::get_if<Label>(&statement.content)) {
        const bool table =
            i + 1 < block.statements.size() && branch_targets(label->name, block.statements[i + 1]);
        if (!table) place_label(scopes_.back().names[label->name].id);
      } else if (const Instruction* instruction = std::get_if<Instruction>(&statement.content)) {
        add(*instruction, statement.span.line, end);
      }
    }
    scopes_.pop_back();
  }

  // "table: .branchtargets a, b, c;" names a list and not a place.
  bool branch_targets(const std::string& name, const Statement& next) {
    const Directive* directive = std::get_if<Directive>(&next.content);
    if (directive == nullptr || directive->name != "branchtargets") return false;
    std::vector<int> labels;
    for (const std::string& word : directive->words) {
      if (word == ",") continue;
      const Argument label = resolve(word);
      if (label.kind != Argument::Kind::kLabel) fail(next.span.line, ".branchtargets", "no label: " + word);
      labels.push_back(label.id);
    }
    Argument argument;
    argument.kind = Argument::Kind::kTargets;
    argument.id = static_cast<int>(result_.kernel.targets.size());
    result_.kernel.targets.push_back(std::move(labels));
    scopes_.back().names[name] = argument;
    return true;
  }

  void place_label(int id) {
    FlatInstruction label;
    label.label = id;
    result_.kernel.instructions.push_back(std::move(label));
  }

  void add(const Instruction& instruction, int line, int end) {
    if (result_.kernel.instructions.size() > kMostInstructions) {
      return fail(line, entry_.name, "the kernel is too large with its functions put in place");
    }
    FlatInstruction flat;
    flat.source = &instruction;
    flat.line = line;
    flat.name = instruction.opcode[0];
    flat.words.assign(instruction.opcode.begin() + 1, instruction.opcode.end());
    if (instruction.guard) {
      const Argument guard = resolve(instruction.guard->predicate);
      if (guard.kind != Argument::Kind::kRegister ||
          result_.kernel.registers[static_cast<std::size_t>(guard.id)].bits != 1) {
        return fail(line, print(instruction), "no predicate: " + instruction.guard->predicate);
      }
      flat.guard = guard.id;
      flat.guard_negated = instruction.guard->negated;
    }
    if (flat.name == "call") return call(instruction, std::move(flat));
    for (const Operand& operand : instruction.operands) flat.arguments.push_back(convert(operand));
    if (flat.name == "ret" && end >= 0) {
      flat.name = "bra";
      flat.words.clear();
      Argument label;
      label.kind = Argument::Kind::kLabel;
      label.id = end;
      flat.arguments = {label};
    }
    result_.kernel.instructions.push_back(std::move(flat));
  }

  // ---- calls

  void call(const Instruction& instruction, FlatInstruction flat) {
    const auto& operands = instruction.operands;
    std::size_t at = 0;
    std::vector<Argument> returns;
    std::vector<Argument> arguments;
    if (at < operands.size() && operands[at].kind == Operand::Kind::kList) {
      for (const Operand& part : operands[at++].parts) returns.push_back(convert(part));
    }
    if (at >= operands.size()) return fail(flat.line, print(instruction), "no function is named");
    const Operand& callee = operands[at++];
    if (at < operands.size() && operands[at].kind == Operand::Kind::kList) {
      for (const Operand& part : operands[at++].parts) arguments.push_back(convert(part));
    }
    const Function* function = callee.kind == Operand::Kind::kName ? symbols_.function(callee.text) : nullptr;
    if (function == nullptr)
      return fail(flat.line, print(instruction), "calls through pointers are not supported");
    for (const auto* list : {&returns, &arguments}) {
      for (const Argument& argument : *list) {
        if (argument.kind != Argument::Kind::kMemory) {
          return fail(flat.line, print(instruction), "arguments of calls must be .param variables");
        }
      }
    }
    if (!function->body) return call_device(instruction, std::move(flat), callee.text, returns, arguments);
    if (arguments.size() != function->parameters.size() || returns.size() != function->returns.size()) {
      return fail(flat.line, print(instruction), "the number of arguments is another");
    }
    inline_call(instruction, flat, *function, returns, arguments);
  }

  // Functions that the device itself provides stay calls.
  void call_device(const Instruction& instruction, FlatInstruction flat, const std::string& name,
                   const std::vector<Argument>& returns, const std::vector<Argument>& arguments) {
    if ((name != "vprintf" || arguments.size() != 2 || returns.size() != 1) &&
        (name != "__assertfail" || arguments.size() != 5)) {
      return fail(flat.line, print(instruction), "the device function " + name + " is not provided");
    }
    flat.name = "call." + name;
    flat.words.clear();
    flat.arguments = returns;
    flat.arguments.insert(flat.arguments.end(), arguments.begin(), arguments.end());
    result_.kernel.instructions.push_back(std::move(flat));
  }

  void inline_call(const Instruction& instruction, const FlatInstruction& flat, const Function& function,
                   const std::vector<Argument>& returns, const std::vector<Argument>& arguments) {
    if (calls_.size() > kDeepestCall || std::find(calls_.begin(), calls_.end(), &function) != calls_.end()) {
      return fail(flat.line, print(instruction), "recursion is not supported");
    }
    const int end = new_label();
    if (flat.guard >= 0) skip_unless(flat, end);
    // The callee sees its own names and the module's, not the caller's.
    const std::size_t floor = scope_floor_;
    scope_floor_ = scopes_.size();
    scopes_.emplace_back();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      scopes_.back().names[function.parameters[i].name] = arguments[i];
    for (std::size_t i = 0; i < returns.size(); ++i)
      scopes_.back().names[function.returns[i].name] = returns[i];
    calls_.push_back(&function);
    body(*function.body, end);
    calls_.pop_back();
    scopes_.pop_back();
    scope_floor_ = floor;
    place_label(end);
  }

  void skip_unless(const FlatInstruction& flat, int end) {
    FlatInstruction skip = flat;
    skip.name = "bra";
    skip.words.clear();
    skip.guard_negated = !flat.guard_negated;
    Argument label;
    label.kind = Argument::Kind::kLabel;
    label.id = end;
    skip.arguments = {label};
    result_.kernel.instructions.push_back(std::move(skip));
  }

  void fail(int line, const std::string& instruction, const std::string& message) {
    if (failed_) return;
    failed_ = true;
    error_ = {line, instruction, message};
  }

  const Function& entry_;
  const ModuleSymbols& symbols_;
  Flattened result_;
  std::vector<Scope> scopes_;
  std::size_t scope_floor_ = 0;  // the first scope of the function that is being inlined
  std::vector<const Function*> calls_;
  std::map<std::string, Argument> statics_;
  std::uint64_t local_bytes_ = 0;
  std::uint64_t shared_bytes_ = 0;
  bool failed_ = false;
  TranslationError error_;
};

}  // namespace

std::variant<Flattened, TranslationError> flatten(const Function& entry, const ModuleSymbols& symbols) {
  return Flattener(entry, symbols).run();
}

}  // namespace fairgv::softcuda
