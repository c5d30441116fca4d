#include "cuda-shim/softcuda/link/names.hpp"

#include <set>
#include <variant>
#include <vector>

namespace fairgv::softcuda::link {
namespace {

using slicing::ptx::Block;
using slicing::ptx::Directive;
using slicing::ptx::Function;
using slicing::ptx::Instruction;
using slicing::ptx::Label;
using slicing::ptx::Operand;
using slicing::ptx::Statement;
using slicing::ptx::Variable;

class Walk {
 public:
  explicit Walk(const NameVisitor& visit) : visit_(visit) {}

  void function(Function& function) {
    scopes_.emplace_back();
    for (const Variable& each : function.returns) scopes_.back().insert(each.name);
    for (const Variable& each : function.parameters) scopes_.back().insert(each.name);
    if (function.body) block(*function.body);
    scopes_.pop_back();
  }

  void operand(Operand& operand) {
    for (Operand& part : operand.parts) this->operand(part);
    if (operand.kind == Operand::Kind::kName && !is_local(operand.text)) visit_(operand.text);
  }

 private:
  void block(Block& block) {
    scopes_.emplace_back();
    for (const Statement& statement : block.statements) {
      if (const auto* variable = std::get_if<Variable>(&statement.content)) {
        scopes_.back().insert(variable->name);
      } else if (const auto* label = std::get_if<Label>(&statement.content)) {
        scopes_.back().insert(label->name);
      }
    }
    for (Statement& each : block.statements) statement(each);
    scopes_.pop_back();
  }

  void statement(Statement& statement) {
    if (auto* inner = std::get_if<Block>(&statement.content)) {
      block(*inner);
    } else if (auto* instruction = std::get_if<Instruction>(&statement.content)) {
      for (Operand& each : instruction->operands) operand(each);
    } else if (auto* variable = std::get_if<Variable>(&statement.content)) {
      if (variable->initial) operand(*variable->initial);
    } else if (auto* directive = std::get_if<Directive>(&statement.content)) {
      // "table: .calltargets f, g;" names the functions that an indirect call may reach.
      if (directive->name != "calltargets") return;
      for (std::string& word : directive->words) {
        if (word != "," && !is_local(word)) visit_(word);
      }
    }
  }

  bool is_local(const std::string& name) const {
    for (const auto& scope : scopes_) {
      if (scope.contains(name)) return true;
    }
    return false;
  }

  const NameVisitor& visit_;
  std::vector<std::set<std::string>> scopes_;
};

}  // namespace

void visit_names(Function& function, const NameVisitor& visit) {
  Walk(visit).function(function);
}

void visit_names(Variable& variable, const NameVisitor& visit) {
  if (variable.initial) Walk(visit).operand(*variable.initial);
}

}  // namespace fairgv::softcuda::link
