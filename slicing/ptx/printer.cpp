#include "slicing/ptx/printer.hpp"

namespace fairgv::slicing::ptx {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string offset_text(std::int64_t offset) {
  if (offset == 0) return "";
  return (offset > 0 ? "+" : "") + std::to_string(offset);
}

std::string operand_text(const Operand& operand);

std::string group_text(const std::vector<Operand>& parts, char open, char close) {
  std::string text(1, open);
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", " : "") + operand_text(parts[i]);
  return text + close;
}

std::string operand_text(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kVector:
      return group_text(operand.parts, '{', '}');
    case Operand::Kind::kAddress:
      return group_text(operand.parts, '[', ']');
    case Operand::Kind::kList:
      return group_text(operand.parts, '(', ')');
    case Operand::Kind::kWrapped:
      return operand.text + group_text(operand.parts, '(', ')') + offset_text(operand.offset);
    case Operand::Kind::kPair:
      return operand_text(operand.parts[0]) + "|" + operand_text(operand.parts[1]);
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat:
      return operand.text;
    case Operand::Kind::kName:
      break;
  }
  std::string text = (operand.negated ? "!" : "") + operand.text;
  return text + offset_text(operand.offset);
}

std::string linkage_text(const std::vector<std::string>& linkage) {
  std::string text;
  for (const std::string& word : linkage) text += "." + word + " ";
  return text;
}

std::string variable_text(const Variable& variable) {
  std::string text = linkage_text(variable.linkage) + "." + variable.space + " ";
  // .attribute(.managed) stands before the type, .ptr .global .align 16 of a parameter behind it.
  const auto is_in_front = [](const std::string& attribute) { return attribute.starts_with("attribute("); };
  for (const std::string& attribute : variable.attributes) {
    if (is_in_front(attribute)) text += "." + attribute + " ";
  }
  if (variable.alignment != 0) text += ".align " + std::to_string(variable.alignment) + " ";
  if (variable.vector_length != 1) text += ".v" + std::to_string(variable.vector_length) + " ";
  text += "." + variable.type + " ";
  for (const std::string& attribute : variable.attributes) {
    if (!is_in_front(attribute)) text += "." + attribute + " ";
  }
  text += variable.name;
  if (variable.count) text += "<" + std::to_string(*variable.count) + ">";
  for (const std::uint64_t size : variable.dimensions)
    text += size == 0 ? "[]" : "[" + std::to_string(size) + "]";
  if (variable.initial) text += " = " + operand_text(*variable.initial);
  return text;
}

std::string directive_text(const Directive& directive) {
  std::string text = "." + directive.name;
  if (!directive.words.empty()) text += " " + joined(directive.words, " ");
  return text;
}

std::string block_text(const Block& block, const std::string& indent);

struct StatementText {
  const std::string& indent;

  std::string operator()(const Instruction& instruction) const { return indent + print(instruction) + "\n"; }
  std::string operator()(const Label& label) const { return label.name + ":\n"; }
  std::string operator()(const Variable& variable) const { return indent + variable_text(variable) + ";\n"; }
  std::string operator()(const Directive& directive) const {
    return indent + directive_text(directive) + (directive.name == "loc" ? "\n" : ";\n");
  }
  std::string operator()(const Block& block) const { return indent + block_text(block, indent) + "\n"; }
};

std::string block_text(const Block& block, const std::string& indent) {
  const std::string inner = indent + "\t";
  std::string text = "{\n";
  for (const Statement& statement : block.statements)
    text += std::visit(StatementText{inner}, statement.content);
  return text + indent + "}";
}

std::string parameters_text(const std::vector<Variable>& parameters) {
  std::string text = "(";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += (i > 0 ? ",\n\t" : "\n\t") + variable_text(parameters[i]);
  return text + ")";
}

struct ItemText {
  std::string operator()(const Function& function) const {
    std::string text = linkage_text(function.linkage) + (function.entry ? ".entry " : ".func ");
    if (!function.returns.empty()) text += parameters_text(function.returns) + " ";
    text += function.name + " " + parameters_text(function.parameters) + "\n";
    for (const Directive& directive : function.directives) text += directive_text(directive) + "\n";
    return text + (function.body ? block_text(*function.body, "") : ";") + "\n";
  }
  std::string operator()(const ModuleVariable& item) const { return variable_text(item.variable) + ";\n"; }
  std::string operator()(const ModuleDirective& item) const { return directive_text(item.directive) + "\n"; }
};

}  // namespace

std::string print(const Instruction& instruction) {
  std::string text;
  if (instruction.guard)
    text += std::string("@") + (instruction.guard->negated ? "!" : "") + instruction.guard->predicate + " ";
  text += joined(instruction.opcode, ".");
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    text += (i > 0 ? ", " : " ") + operand_text(instruction.operands[i]);
  }
  return text + ";";
}

std::string print(const Module& module) {
  std::string text = ".version " + std::to_string(module.version_major) + "." +
                     std::to_string(module.version_minor) + "\n.target " + joined(module.targets, ", ") +
                     "\n.address_size " + std::to_string(module.address_size) + "\n";
  for (const auto& item : module.items) text += std::visit(ItemText{}, item);
  return text;
}

}  // namespace fairgv::slicing::ptx
