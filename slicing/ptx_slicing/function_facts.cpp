#include "slicing/ptx_slicing/function_facts.hpp"

#include <algorithm>

namespace fairgv::slicing::ptx {
namespace {

std::string opcode_text(const Instruction& instruction) {
  std::string text;
  for (const std::string& word : instruction.opcode) text += (text.empty() ? "" : ".") + word;
  return text;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The register's name without its component: "%ctaid" of "%ctaid.x".
std::string_view base_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

bool is_grid_register(std::string_view name) {
  return base_of(name) == "%ctaid" || base_of(name) == "%nctaid";
}

// Clusters are groups of blocks that are launched together: a part could cut one.
bool is_cluster_register(std::string_view name) {
  constexpr std::array<std::string_view, 7> kRegisters = {
      "%is_explicit_cluster", "%clusterid",       "%nclusterid",      "%cluster_ctaid",
      "%cluster_nctaid",      "%cluster_ctarank", "%cluster_nctarank"};
  return std::find(kRegisters.begin(), kRegisters.end(), base_of(name)) != kRegisters.end();
}

// mov and cvt are the only instructions that take special registers. Any register can replace a value of 32
// bits, but not in mov.v4 of the whole vector or mov.u16 (PTX 1), which no compiler writes.
bool reads_one_value(const Instruction& instruction) {
  if (instruction.opcode[0] == "cvt") return true;
  return instruction.opcode.size() == 2 && instruction.opcode[0] == "mov" &&
         (instruction.opcode[1] == "u32" || instruction.opcode[1] == "s32" || instruction.opcode[1] == "b32");
}

// Instructions that concern other blocks of the grid, or the launch itself.
std::string obstacle_in_opcode(const Instruction& instruction) {
  const std::vector<std::string>& words = instruction.opcode;
  const bool cluster_barrier = words[0] == "barrier" && words.size() > 1 && words[1] == "cluster";
  if (cluster_barrier || words[0] == "mapa" || words[0] == "getctarank" ||
      contains(words, "multicast::cluster") || contains(words, "cta_group::2")) {
    return "uses clusters of blocks (" + opcode_text(instruction) + ")";
  }
  if (words[0] == "clusterlaunchcontrol") return "takes over other blocks (" + opcode_text(instruction) + ")";
  if (words[0] == "griddepcontrol") return "overlaps with other launches (griddepcontrol)";
  return {};
}

class Collector {
 public:
  FunctionFacts run(const Function& function) {
    for (const Directive& directive : function.directives) {
      if (directive.name == "reqnctapercluster" || directive.name == "explicitcluster" ||
          directive.name == "maxclusterrank" || directive.name == "blocksareclusters") {
        obstacle("is launched in clusters of blocks (." + directive.name + ")");
      }
    }
    block(*function.body);
    return std::move(facts_);
  }

 private:
  void obstacle(std::string phrase) {
    if (facts_.obstacle.empty()) facts_.obstacle = std::move(phrase);
  }

  void block(const Block& body) {
    for (const Statement& statement : body.statements) {
      if (const Block* inner = std::get_if<Block>(&statement.content)) block(*inner);
      if (const Instruction* each = std::get_if<Instruction>(&statement.content)) instruction(*each);
      if (const Variable* variable = std::get_if<Variable>(&statement.content)) {
        if (variable->initial) add_names(*variable->initial, facts_.addresses);
      }
      if (const Directive* directive = std::get_if<Directive>(&statement.content)) {
        // The functions that a call through a register may reach.
        if (directive->name != "calltargets") continue;
        for (const std::string& word : directive->words) facts_.addresses.insert(word);
      }
    }
  }

  void instruction(const Instruction& each) {
    if (std::string phrase = obstacle_in_opcode(each); !phrase.empty()) obstacle(std::move(phrase));
    if (each.opcode[0] == "call") return call(each);
    for (const Operand& operand : each.operands) read(each, operand);
  }

  void call(const Instruction& each) {
    std::size_t at = 0;
    if (!each.operands.empty() && each.operands[0].kind == Operand::Kind::kList)
      read(each, each.operands[at++]);
    if (at >= each.operands.size()) return;
    // A register or a function: only the module knows (call_graph.cpp).
    facts_.callees.insert(each.operands[at++].text);
    for (; at < each.operands.size(); ++at) read(each, each.operands[at]);
  }

  void read(const Instruction& each, const Operand& operand) {
    for (const Operand& part : operand.parts) read(each, part);
    if (operand.text.empty() || operand.kind != Operand::Kind::kName) return;
    if (!operand.text.starts_with('%')) {
      facts_.addresses.insert(operand.text);
      return;
    }
    if (is_cluster_register(operand.text)) obstacle("reads " + operand.text);
    if (operand.text.starts_with("%envreg")) {
      // The driver keeps the barrier of a cooperative launch there.
      obstacle("reads " + operand.text + ", as synchronisation of the whole grid does");
    }
    if (!is_grid_register(operand.text)) return;
    const int value = grid_value_of(operand.text);
    if (value < 0 && operand.text != base_of(operand.text)) return;  // .w is the same in every launch
    if (value < 0 || !reads_one_value(each)) {
      obstacle("reads " + operand.text + " in a way that is not rewritten (" + opcode_text(each) + ")");
    }
    facts_.reads = static_cast<GridValues>(facts_.reads | (value < 0 ? 0x3f : 1 << value));
  }

  FunctionFacts facts_;
};

}  // namespace

int grid_value_of(std::string_view special_register) {
  if (!is_grid_register(special_register)) return -1;
  const std::string_view base = base_of(special_register);
  if (special_register.size() != base.size() + 2) return -1;
  constexpr std::string_view kComponents = "xyzrgb";
  const std::size_t component = kComponents.find(special_register.back());
  if (component == std::string_view::npos) return -1;
  return static_cast<int>(component % 3) + (base == "%ctaid" ? 0 : 3);
}

FunctionFacts facts_of(const Function& function) {
  return Collector().run(function);
}

void add_names(const Operand& operand, std::set<std::string>& names) {
  if (operand.kind == Operand::Kind::kName) names.insert(operand.text);
  for (const Operand& part : operand.parts) add_names(part, names);
}

}  // namespace fairgv::slicing::ptx
