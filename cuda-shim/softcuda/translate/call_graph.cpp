#include "cuda-shim/softcuda/translate/call_graph.hpp"

#include <algorithm>

namespace fairgv::softcuda {
namespace {

using slicing::ptx::Block;
using slicing::ptx::Instruction;
using slicing::ptx::Operand;
using slicing::ptx::Statement;

}  // namespace

Signature signature_of(const slicing::ptx::Function& function) {
  Signature signature;
  for (const auto& each : function.returns) signature.results.push_back(size_of(each));
  for (const auto& each : function.parameters) signature.parameters.push_back(size_of(each));
  return signature;
}

CallGraph::CallGraph(const slicing::ptx::Module& module, const ModuleSymbols& symbols) : symbols_(symbols) {
  for (const auto& item : module.items) {
    if (const auto* function = std::get_if<Function>(&item)) {
      read(*function);
    } else if (const auto* variable = std::get_if<slicing::ptx::ModuleVariable>(&item)) {
      if (variable->variable.initial) take_addresses(*variable->variable.initial);
    }
  }
}

void CallGraph::read(const Function& function) {
  if (function.body) read(*function.body, nodes_[&function]);
}

void CallGraph::read(const Block& block, Node& node) {
  for (const Statement& statement : block.statements) {
    if (const auto* inner = std::get_if<Block>(&statement.content)) read(*inner, node);
    if (const auto* instruction = std::get_if<Instruction>(&statement.content)) read(*instruction, node);
  }
}

void CallGraph::read(const Instruction& instruction, Node& node) {
  const bool call = !instruction.opcode.empty() && instruction.opcode[0] == "call";
  bool callee_seen = !call;
  if (instruction.operands.size() == 2 && instruction.operands[1].text.starts_with("%envreg"))
    node.waits_for_grid = true;
  for (const Operand& operand : instruction.operands) {
    if (callee_seen || operand.kind != Operand::Kind::kName) {
      take_addresses(operand);
      continue;
    }
    callee_seen = true;
    const Function* function = symbols_.function(operand.text);
    if (function == nullptr) {
      node.calls_through_pointers = true;
    } else if (function->body) {
      node.callees.insert(function);
    }
  }
}

void CallGraph::take_addresses(const Operand& operand) {
  for (const Operand& part : operand.parts) take_addresses(part);
  if (operand.kind != Operand::Kind::kName) return;
  const Function* function = symbols_.function(operand.text);
  if (function == nullptr || !function->body || function->entry) return;
  if (std::find(with_address_.begin(), with_address_.end(), function) == with_address_.end())
    with_address_.push_back(function);
}

std::vector<const slicing::ptx::Function*> CallGraph::targets(const Signature& signature) const {
  std::vector<const Function*> list;
  for (const Function* each : with_address_) {
    if (signature_of(*each) == signature) list.push_back(each);
  }
  return list;
}

std::set<const slicing::ptx::Function*> CallGraph::reached_from(const Function& from) const {
  std::set<const Function*> seen;
  std::vector<const Function*> open = {&from};
  while (!open.empty()) {
    const Function* at = open.back();
    open.pop_back();
    const auto node = nodes_.find(at);
    if (node == nodes_.end()) continue;
    const auto visit = [&](const Function* next) {
      if (seen.insert(next).second) open.push_back(next);
    };
    for (const Function* next : node->second.callees) visit(next);
    if (node->second.calls_through_pointers) {
      for (const Function* next : with_address_) visit(next);
    }
  }
  return seen;
}

bool CallGraph::reaches(const Function& from, const Function& to) const {
  return reached_from(from).contains(&to);
}

bool CallGraph::waits_for_grid(const Function& function) const {
  std::set<const Function*> all = reached_from(function);
  all.insert(&function);
  return std::any_of(all.begin(), all.end(), [this](const Function* each) {
    const auto node = nodes_.find(each);
    return node != nodes_.end() && node->second.waits_for_grid;
  });
}

}  // namespace fairgv::softcuda
