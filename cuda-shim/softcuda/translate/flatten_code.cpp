#include <algorithm>
#include <array>

#include "cuda-shim/softcuda/translate/device_library.hpp"
#include "cuda-shim/softcuda/translate/flattener.hpp"
#include "cuda-shim/softcuda/translate/write/matrix.hpp"
#include "slicing/ptx/printer.hpp"

namespace fairgv::softcuda {
namespace {

using slicing::ptx::Block;
using slicing::ptx::Directive;
using slicing::ptx::Instruction;
using slicing::ptx::Label;
using slicing::ptx::Operand;
using slicing::ptx::Statement;
using slicing::ptx::Variable;

constexpr std::size_t kMostInstructions = 400'000;  // after inlining
constexpr std::size_t kDeepestCall = 64;            // deeper ones are jumps

// Functions that the device itself provides: their results and parameters.
struct DeviceFunction {
  std::string_view name;
  std::size_t returns;
  std::size_t arguments;
};
constexpr std::array<DeviceFunction, 5> kDeviceFunctions = {{
    {"vprintf", 1, 2},
    {"__assertfail", 0, 5},
    {"malloc", 1, 1},
    {"free", 0, 1},
    {"__cuda_syscall_aligned_malloc", 1, 2},
}};

// The instructions by which a loop is known to wait for other blocks.
bool may_wait_for_blocks(const FlatInstruction& i) {
  if (i.has("shared") || i.has("shared::cta") || i.has("local") || i.has("param")) return false;
  return i.name == "atom" || i.name == "nanosleep" ||
         (i.name == "ld" && (i.has("volatile") || i.has("relaxed") || i.has("acquire")));
}

// Results, then parameters, each at its place in a frame of its function.
std::vector<std::uint64_t> places(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& sizes) {
  std::vector<std::uint64_t> list;
  std::uint64_t at = kFrameHead;
  for (const auto& [size, alignment] : sizes) {
    at = round_up(at, std::max<std::uint64_t>(8, alignment));
    list.push_back(at);
    at += round_up(size, 8);
  }
  list.push_back(at);
  return list;
}

}  // namespace

// ---- statements

// `end` is the label that a function's ret goes to; -1 in an entry, where it is exit.
void Flattener::body(const Block& block, int end) {
  scopes_.emplace_back();
  const std::uint64_t frame_bytes = frame_bytes_;
  for (std::size_t i = 0; i < block.statements.size(); ++i) {
    if (const Label* label = std::get_if<Label>(&block.statements[i].content)) {
      scopes_.back().names[label->name] = label_argument(new_label());
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
  frame_bytes_ = frame_bytes;
}

// "table: .branchtargets a, b, c;" names a list and not a place.
bool Flattener::branch_targets(const std::string& name, const Statement& next) {
  const Directive* directive = std::get_if<Directive>(&next.content);
  if (directive == nullptr || directive->name != "branchtargets") return false;
  std::vector<int> labels;
  for (const std::string& word : directive->words) {
    if (word == ",") continue;
    const Argument label = resolve(word);
    if (label.kind != Argument::Kind::kLabel) fail(next.span.line, ".branchtargets", "no label: " + word);
    labels.push_back(label.id);
  }
  scopes_.back().names[name] = targets_argument(std::move(labels));
  return true;
}

void Flattener::place_label(int id) {
  FlatInstruction label;
  label.label = id;
  lockstep_.join();
  result_.kernel.instructions.push_back(std::move(label));
}

void Flattener::add(const Instruction& instruction, int line, int end) {
  if (result_.kernel.instructions.size() > kMostInstructions) {
    return fail(line, entry_.name, "the kernel is too large with its functions put in place");
  }
  FlatInstruction flat;
  flat.source = &instruction;
  flat.line = line;
  flat.name = instruction.opcode[0];
  flat.words.assign(instruction.opcode.begin() + 1, instruction.opcode.end());
  put_types_last(flat.words);
  if (instruction.guard) {
    const Argument guard = resolve(instruction.guard->predicate);
    if (guard.kind != Argument::Kind::kRegister ||
        result_.kernel.registers[static_cast<std::size_t>(guard.id)].bits != 1) {
      return fail(line, print(instruction), "no predicate: " + instruction.guard->predicate);
    }
    flat.guard = guard.id;
    flat.guard_negated = instruction.guard->negated;
  }
  if (flat.name == "call") {
    lockstep_.join();
    return call(instruction, std::move(flat));
  }
  for (const Operand& operand : instruction.operands) flat.arguments.push_back(convert(operand));
  if (flat.name == "ret" && end >= 0) {
    flat.name = "bra";
    flat.words.clear();
    flat.arguments = {label_argument(end)};
  }
  // Behind it the value may have changed.
  if (result_.info.cooperates && may_wait_for_blocks(flat)) add_stop(flat, "yield");
  if (lockstep_.stops_before(flat)) {
    FlatInstruction unguarded = flat;
    unguarded.guard = -1;
    add_stop(std::move(unguarded), "lockstep");
  }
  if (is_matrix_transfer(flat)) return transfer_matrix(std::move(flat));
  result_.kernel.instructions.push_back(std::move(flat));
}

void Flattener::add_stop(FlatInstruction at, const char* name) {
  at.name = name;
  at.words.clear();
  at.arguments.clear();
  result_.kernel.instructions.push_back(std::move(at));
}

// Stores of the warp's other lanes may be needed, and theirs may follow: the lanes go together.
void Flattener::transfer_matrix(FlatInstruction flat) {
  FlatInstruction together = flat;
  together.name = "bar";
  together.words = {"warp", "sync"};
  Argument all;
  all.kind = Argument::Kind::kInteger;
  all.bits = 0xffffffff;
  together.arguments = {all};
  result_.kernel.instructions.push_back(together);
  result_.kernel.instructions.push_back(std::move(flat));
  result_.kernel.instructions.push_back(std::move(together));
}

Argument Flattener::label_argument(int label) const {
  Argument argument;
  argument.kind = Argument::Kind::kLabel;
  argument.id = label;
  return argument;
}

Argument Flattener::targets_argument(std::vector<int> labels) {
  Argument argument;
  argument.kind = Argument::Kind::kTargets;
  argument.id = static_cast<int>(result_.kernel.targets.size());
  result_.kernel.targets.push_back(std::move(labels));
  return argument;
}

// ---- calls

void Flattener::call(const Instruction& instruction, FlatInstruction flat) {
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
  const auto is_memory = [](const Argument& each) { return each.kind == Argument::Kind::kMemory; };
  if (!std::all_of(returns.begin(), returns.end(), is_memory) ||
      !std::all_of(arguments.begin(), arguments.end(), is_memory)) {
    return fail(flat.line, print(instruction), "arguments of calls must be .param variables");
  }
  const Function* function = callee.kind == Operand::Kind::kName ? symbols_.function(callee.text) : nullptr;
  if (function == nullptr) {
    const Argument pointer = convert(callee);
    if (pointer.kind != Argument::Kind::kRegister ||
        result_.kernel.registers[static_cast<std::size_t>(pointer.id)].bits != 64) {
      return fail(flat.line, print(instruction), "a function or a 64-bit register is expected");
    }
    Signature signature;
    const auto size = [this](const Argument& each) {
      return result_.kernel.memories[static_cast<std::size_t>(each.id)].size;
    };
    for (const Argument& each : returns) signature.results.push_back(size(each));
    for (const Argument& each : arguments) signature.parameters.push_back(size(each));
    return call_by_jump(std::move(flat), pointer, graph_.targets(signature), returns, arguments);
  }
  if (!function->body) return call_device(instruction, std::move(flat), callee.text, returns, arguments);
  if (arguments.size() != function->parameters.size() || returns.size() != function->returns.size()) {
    return fail(flat.line, print(instruction), "the number of arguments is another");
  }
  if (calls_.size() <= kDeepestCall && !graph_.reaches(*function, *function))
    return inline_call(flat, *function, returns, arguments);
  call_by_jump(std::move(flat), {}, {function}, returns, arguments);
}

// Functions that the device itself provides stay calls.
void Flattener::call_device(const Instruction& instruction, FlatInstruction flat, const std::string& name,
                            const std::vector<Argument>& returns, const std::vector<Argument>& arguments) {
  const bool known = std::any_of(kDeviceFunctions.begin(), kDeviceFunctions.end(), [&](const auto& each) {
    return each.name == name && each.arguments == arguments.size() &&
           (each.returns == returns.size() || each.returns == 0);
  });
  if (!known) return fail(flat.line, print(instruction), why_not_provided(name));
  flat.name = "call." + name;
  flat.words.clear();
  flat.arguments = returns;
  flat.arguments.insert(flat.arguments.end(), arguments.begin(), arguments.end());
  result_.kernel.instructions.push_back(std::move(flat));
}

void Flattener::inline_call(const FlatInstruction& flat, const Function& function,
                            const std::vector<Argument>& returns, const std::vector<Argument>& arguments) {
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

// `pointer`: the register that says which of the targets; of no kind where there is one.
void Flattener::call_by_jump(FlatInstruction flat, const Argument& pointer,
                             const std::vector<const Function*>& targets,
                             const std::vector<Argument>& returns, const std::vector<Argument>& arguments) {
  const int end = new_label();
  if (flat.guard >= 0) skip_unless(flat, end);
  Call call;
  call.caller = frame_;
  call.return_label = new_label();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (const auto* list : {&returns, &arguments}) {
    for (const Argument& each : *list) {
      const Memory& memory = result_.kernel.memories[static_cast<std::size_t>(each.id)];
      sizes.emplace_back(memory.size, memory.alignment);
    }
  }
  const auto offsets = places(sizes);
  for (std::size_t i = 0; i < returns.size(); ++i)
    call.results.push_back({returns[i].id, offsets[i], sizes[i].first});
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t n = returns.size() + i;
    call.arguments.push_back({arguments[i].id, offsets[n], sizes[n].first});
  }
  for (const Function* target : targets) {
    const auto refused = refused_.find(target);
    if (refused != refused_.end() && pointer.kind == Argument::Kind::kRegister) {
      call.refused.push_back({symbols_.pointer_to(*target), refused->second});
      continue;
    }
    call.targets.push_back(frame_of(*target));
    if (pointer.kind != Argument::Kind::kRegister)
      result_.kernel.frames[static_cast<std::size_t>(call.targets.back())].called_directly = true;
  }
  flat.guard = -1;
  flat.words.clear();
  flat.call = static_cast<int>(result_.kernel.calls.size());
  flat.name = "call.enter";
  flat.arguments.clear();
  if (pointer.kind == Argument::Kind::kRegister) flat.arguments.push_back(pointer);
  FlatInstruction back = flat;
  back.name = "call.return";
  back.arguments.clear();
  const int return_label = call.return_label;
  result_.kernel.calls.push_back(std::move(call));
  result_.kernel.instructions.push_back(std::move(flat));
  place_label(return_label);
  result_.kernel.instructions.push_back(std::move(back));
  place_label(end);
}

int Flattener::frame_of(const Function& function) {
  const auto [known, is_new] = frames_.emplace(&function, static_cast<int>(result_.kernel.frames.size()));
  if (is_new) {
    Frame frame;
    frame.function = &function;
    frame.pointer = symbols_.pointer_to(function);
    frame.label = new_label();
    result_.kernel.frames.push_back(frame);
  }
  return known->second;
}

void Flattener::write_frame(int number) {
  const auto at = static_cast<std::size_t>(number);
  const Function& function = *result_.kernel.frames[at].function;
  frame_ = number;
  calls_ = {&function};
  scope_floor_ = scopes_.size();
  scopes_.emplace_back();
  result_.kernel.frames[at].begin = result_.kernel.instructions.size();
  result_.kernel.frames[at].first_register = static_cast<int>(result_.kernel.registers.size());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (const auto* list : {&function.returns, &function.parameters}) {
    for (const Variable& each : *list) sizes.emplace_back(size_of(each), alignment_of(each));
  }
  const auto offsets = places(sizes);
  std::size_t n = 0;
  for (const auto* list : {&function.returns, &function.parameters}) {
    for (const Variable& each : *list) {
      Memory memory{Memory::Space::kCallParam, offsets[n], sizes[n].first, sizes[n].second};
      memory.in_frame = true;
      name_memory(each.name, memory);
      ++n;
    }
  }
  frame_bytes_ = offsets.back();
  result_.kernel.frames[at].bytes = frame_bytes_;
  place_label(result_.kernel.frames[at].label);
  const int end = new_label();
  body(*function.body, end);
  if (failed_) return;
  place_label(end);
  FlatInstruction leave;
  static const Instruction kReturn{{}, {"ret"}, {}};
  leave.source = &kReturn;
  leave.line = function.span.line;
  leave.name = "call.leave";
  leaves_.push_back(result_.kernel.instructions.size());
  result_.kernel.instructions.push_back(std::move(leave));
  scopes_.pop_back();
  result_.kernel.frames[at].end = result_.kernel.instructions.size();
  result_.kernel.frames[at].end_register = static_cast<int>(result_.kernel.registers.size());
  frame_ = -1;
}

// Which frames a call may enter, and where each may return to, is known when all are written.
void Flattener::link_calls() {
  FlatKernel& kernel = result_.kernel;
  std::vector<std::vector<int>> returns(kernel.frames.size());
  for (const Call& call : kernel.calls) {
    for (const int target : call.targets)
      returns[static_cast<std::size_t>(target)].push_back(call.return_label);
  }
  for (FlatInstruction& i : kernel.instructions) {
    if (i.name != "call.enter") continue;
    std::vector<int> labels;
    for (const int target : kernel.calls[static_cast<std::size_t>(i.call)].targets)
      labels.push_back(kernel.frames[static_cast<std::size_t>(target)].label);
    i.arguments.push_back(targets_argument(std::move(labels)));
  }
  for (std::size_t frame = 0; frame < leaves_.size(); ++frame)
    kernel.instructions[leaves_[frame]].arguments.push_back(targets_argument(std::move(returns[frame])));
}

void Flattener::skip_unless(const FlatInstruction& flat, int end) {
  FlatInstruction skip = flat;
  skip.name = "bra";
  skip.words.clear();
  skip.guard_negated = !flat.guard_negated;
  skip.arguments = {label_argument(end)};
  result_.kernel.instructions.push_back(std::move(skip));
}

}  // namespace fairgv::softcuda
