#include "cuda-shim/softcuda/translate/flatten.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "cuda-shim/softcuda/translate/flattener.hpp"

namespace fairgv::softcuda {
namespace {

using slicing::ptx::Directive;
using slicing::ptx::Operand;
using slicing::ptx::Variable;

constexpr std::uint64_t kMostParameterBytes = 32764;
constexpr std::uint64_t kMostLocalBytes = 512 * 1024;  // CUDA's limit per thread

}  // namespace

std::variant<Flattened, FlattenError> Flattener::run() {
  result_.info.name = entry_.name;
  result_.info.cooperates = graph_.waits_for_grid(entry_);
  scopes_.emplace_back();
  entry_parameters();
  for (const Directive& directive : entry_.directives) entry_directive(directive);
  calls_.push_back(&entry_);
  if (entry_.body) body(*entry_.body, -1);
  // Each may bring others.
  for (std::size_t number = 0; number < result_.kernel.frames.size() && !failed_; ++number)
    write_frame(static_cast<int>(number));
  if (failed_) {
    const Frame* frame = frame_ >= 0 ? &result_.kernel.frames[static_cast<std::size_t>(frame_)] : nullptr;
    return FlattenError{error_, frame == nullptr || frame->called_directly ? nullptr : frame->function};
  }
  link_calls();
  result_.info.constant_bytes = symbols_.constant_bytes();
  result_.info.local_bytes = static_cast<std::uint32_t>(local_bytes_);
  result_.info.static_shared_bytes = static_cast<std::uint32_t>(shared_bytes_);
  return std::move(result_);
}

// ---- declarations

void Flattener::entry_parameters() {
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

void Flattener::entry_directive(const Directive& directive) {
  if (directive.name == "maxnreg" && !directive.words.empty()) {
    result_.info.most_registers =
        static_cast<std::uint32_t>(std::strtoul(directive.words.front().c_str(), nullptr, 0));
  }
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

Argument Flattener::name_memory(const std::string& name, Memory memory) {
  Argument argument;
  argument.kind = Argument::Kind::kMemory;
  argument.id = static_cast<int>(result_.kernel.memories.size());
  result_.kernel.memories.push_back(memory);
  if (!name.empty()) scopes_.back().names[name] = argument;
  return argument;
}

// A variable of the thread's own. In a function with a frame it lies there, until its block ends.
Argument Flattener::name_own_memory(const std::string& name, Memory memory) {
  if (frame_ >= 0) {
    memory.in_frame = true;
    memory.offset = round_up(frame_bytes_, std::max<std::uint64_t>(8, memory.alignment));
    frame_bytes_ = memory.offset + round_up(memory.size, 8);
    std::uint64_t& most = result_.kernel.frames[static_cast<std::size_t>(frame_)].bytes;
    most = std::max(most, frame_bytes_);
  }
  return name_memory(name, memory);
}

void Flattener::declare(const Variable& variable, int line) {
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
    local_bytes_ = round_up(local_bytes_, alignment_of(variable)) + size_of(variable);
    if (local_bytes_ > kMostLocalBytes) return fail(line, what, "more than 512 KiB of .local per thread");
    name_own_memory(variable.name, {Memory::Space::kLocal, 0, size_of(variable), alignment_of(variable)});
  } else if (variable.space == "param") {
    if (size_of(variable) > kMostParameterBytes)
      return fail(line, what, "a parameter larger than 32764 bytes");
    name_own_memory(variable.name, {Memory::Space::kCallParam, 0, size_of(variable), alignment_of(variable)});
  } else if (variable.space.starts_with("shared")) {
    scopes_.back().names[variable.name] =
        shared(calls_.back()->name + "/" + variable.name,
               {Memory::Space::kShared, 0, size_of(variable), alignment_of(variable)});
  } else {
    fail(line, what, "variables of this space are not supported inside functions");
  }
}

// One instance per kernel, however often the function that declares it is inlined.
Argument Flattener::shared(const std::string& key, Memory memory) {
  const auto known = statics_.find(key);
  if (known != statics_.end()) return known->second;
  result_.info.shared_alignment =
      std::max(result_.info.shared_alignment, static_cast<std::uint32_t>(memory.alignment));
  if (!memory.dynamic_shared) {
    memory.offset = round_up(shared_bytes_, memory.alignment);
    shared_bytes_ = memory.offset + memory.size;
    if (shared_bytes_ > 256 * 1024) fail(entry_.span.line, key, "more than 256 KiB of .shared");
  }
  return statics_[key] = name_memory("", memory);
}

Argument Flattener::new_register(unsigned bits) {
  Argument argument;
  argument.kind = Argument::Kind::kRegister;
  argument.id = static_cast<int>(result_.kernel.registers.size());
  result_.kernel.registers.push_back({bits});
  return argument;
}

// ---- names

Argument Flattener::resolve(const std::string& name) {
  for (std::size_t i = scopes_.size(); i-- > scope_floor_;) {
    const auto found = scopes_[i].names.find(name);
    if (found != scopes_[i].names.end()) return found->second;
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const auto family = scopes_[i].families.find(name.substr(0, digits));
    if (family == scopes_[i].families.end() || digits == name.size() || name.size() - digits > 9) continue;
    if (std::stoul(name.substr(digits)) >= family->second.first) continue;
    return scopes_[i].names[name] = new_register(family->second.second);
  }
  if (const auto refused = symbols_.refused().find(name); refused != symbols_.refused().end()) {
    fail(refused->second.line, refused->second.instruction, refused->second.message);
  }
  if (const Memory* memory = symbols_.memory(name)) {
    if (memory->space == Memory::Space::kShared) return shared(name, *memory);
    if (!statics_.contains(name)) statics_[name] = name_memory("", *memory);
    return statics_[name];
  }
  Argument argument;
  argument.text = name;
  if (const Function* function = symbols_.function(name); function != nullptr && !function->entry) {
    argument.kind = Argument::Kind::kInteger;
    argument.bits = symbols_.pointer_to(*function);
    return argument;
  }
  if (name == "_") argument.kind = Argument::Kind::kSink;
  if (name.starts_with('%') || name == "WARP_SZ") argument.kind = Argument::Kind::kSpecial;
  return argument;
}

Argument Flattener::convert(const Operand& operand) {
  Argument argument;
  switch (operand.kind) {
    case Operand::Kind::kName:
      argument = resolve(operand.text);
      argument.offset += operand.offset;
      argument.negated = operand.negated;
      return argument;
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
  argument.text = operand.text;
  argument.bits = operand.bits;
  argument.single = operand.single;
  argument.negated = operand.negated;
  for (const Operand& part : operand.parts) argument.parts.push_back(convert(part));
  return argument;
}

void Flattener::fail(int line, const std::string& instruction, const std::string& message) {
  if (failed_) return;
  failed_ = true;
  error_ = {line, instruction, message};
}

std::variant<Flattened, FlattenError> flatten(const slicing::ptx::Function& entry,
                                              const ModuleSymbols& symbols, const CallGraph& graph,
                                              const RefusedTargets& refused) {
  return Flattener(entry, symbols, graph, refused).run();
}

}  // namespace fairgv::softcuda
