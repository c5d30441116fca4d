// The copy of a function gets the launch's values as registers of its own, set where its body begins: in an
// entry from the hidden parameter, in a function from parameters of its own. Copies call copies, and stand
// behind the text in the order of their originals, so that each is declared before it is called.
#include "slicing/ptx_slicing/rewrite.hpp"

#include <algorithm>

#include "slicing/ptx/lexer.hpp"
#include "slicing/ptx/parser.hpp"
#include "slicing/ptx_slicing/call_graph.hpp"
#include "slicing/ptx_slicing/parameter_block.hpp"
#include "slicing/ptx_slicing/text_editor.hpp"

namespace fairgv::slicing {
namespace {

using ptx::CallGraph;
using ptx::Function;
using ptx::GridValues;
using ptx::Node;
using ptx::TextEditor;
using ptx::Token;

bool is_punctuation(const Token& token, std::string_view text) {
  return token.kind == Token::Kind::kPunctuation && token.text == text;
}

// The tokens of a part of the text; their spans count from its begin.
std::vector<Token> tokens_of(std::string_view text, const ptx::Span& span) {
  return ptx::tokenize(text.substr(span.begin, span.end - span.begin));
}

// The index of the closing bracket of the list that begins with the opening bracket tokens[open].
std::size_t closing(const std::vector<Token>& tokens, std::size_t open) {
  int depth = 0;
  std::size_t at = open;
  for (; at + 1 < tokens.size(); ++at) {
    depth += is_punctuation(tokens[at], "(") ? 1 : is_punctuation(tokens[at], ")") ? -1 : 0;
    if (depth == 0) break;
  }
  return at;
}

// A word that no name of the module contains, so that names made from it clash with nothing, in no scope.
std::string free_word(std::string_view text) {
  const std::vector<Token> tokens = ptx::tokenize(text);
  for (unsigned number = 0;; ++number) {
    const std::string word = "fairgv_part" + (number == 0 ? std::string() : std::to_string(number)) + "_";
    const bool taken = std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
      return token.kind == Token::Kind::kIdentifier && token.text.find(word) != std::string_view::npos;
    });
    if (!taken) return word;
  }
}

class Rewriter {
 public:
  Rewriter(std::string_view text, const ptx::Module& module, CallGraph& graph)
      : text_(text), module_(module), graph_(graph), word_(free_word(text)) {}

  SlicedModule run() {
    SlicedModule result;
    for (const auto& item : module_.items) {
      const Function* function = std::get_if<Function>(&item);
      if (function != nullptr && function->entry && function->body)
        result.entries.push_back(entry(*function));
    }
    graph_.finish();
    result.text = text_;
    for (const auto& item : module_.items) {
      const Function* function = std::get_if<Function>(&item);
      if (function == nullptr || !is_copied(*graph_.find(function->name))) continue;
      if (!result.text.ends_with('\n')) result.text += '\n';
      result.text += copy(*function) + '\n';
    }
    return result;
  }

 private:
  SlicedEntry entry(const Function& function) {
    const Node& node = *graph_.find(function.name);
    SlicedEntry entry;
    entry.name = function.name;
    const auto own = ptx::parameter_block_bytes(function.parameters);
    entry.own_parameter_bytes = static_cast<std::uint32_t>(own.value_or(0));
    entry.parameter_bytes = entry.own_parameter_bytes;
    if (node.obstacle.empty() && node.reads != 0) {
      const std::uint64_t offset = (own.value_or(0) + 3) / 4 * 4;
      if (!own) graph_.refuse_entry(function.name, "has a parameter of unknown size");
      if (offset + sizeof(HiddenParameter) > ptx::most_parameter_bytes(module_)) {
        graph_.refuse_entry(function.name, "has no room for another parameter");
      }
      if (node.obstacle.empty()) {
        const auto first = static_cast<std::uint32_t>(offset);
        entry.hidden = {.index = static_cast<std::uint32_t>(function.parameters.size()),
                        .offset = first,
                        .counts_offset = first + 12};
        entry.part_name = copy_name(function.name);
        entry.parameter_bytes = first + static_cast<std::uint32_t>(sizeof(HiddenParameter));
      }
    }
    entry.sliceable = node.obstacle.empty();
    if (!entry.sliceable) entry.reason = "it " + node.obstacle;
    return entry;
  }

  static bool has_hidden(const Node& node) {
    return node.entry && node.called_from_sliced && node.reads != 0;
  }
  static bool is_copied(const Node& node) { return has_hidden(node) || node.takes_values(); }

  std::string copy(const Function& function) {
    const Node& node = *graph_.find(function.name);
    TextEditor editor;
    declare(editor, function, node);
    if (function.body) {
      prologue(editor, function, node);
      block(editor, *function.body);
    }
    return editor.apply(text_, function.span.begin, function.span.end);
  }

  // ---- names

  std::string name_of(unsigned value) const {
    constexpr std::array<std::string_view, ptx::kGridValueCount> kNames = {
        "ctaid_x", "ctaid_y", "ctaid_z", "nctaid_x", "nctaid_y", "nctaid_z"};
    return word_ + std::string(kNames[value]);
  }
  std::string register_of(unsigned value) const { return "%" + name_of(value); }
  /// Only the first character of a name can be %.
  std::string copy_name(const std::string& function) const {
    return function.starts_with('%') ? word_ + "named_" + function.substr(1) : word_ + "of_" + function;
  }

  /// `each` of all values in the set, with `between` between them.
  template <class Each>
  static std::string joined(GridValues values, std::string_view between, Each each) {
    std::string text;
    for (unsigned value = 0; value < ptx::kGridValueCount; ++value) {
      if ((values >> value & 1) == 0) continue;
      if (!text.empty()) text += between;
      text += each(value);
    }
    return text;
  }

  // ---- declarations

  void declare(TextEditor& editor, const Function& function, const Node& node) {
    const std::string added =
        has_hidden(node)
            ? ".param .align 4 .b8 " + word_ + "hidden[" + std::to_string(sizeof(HiddenParameter)) + "]"
            : joined(node.reads, ", ", [&](unsigned value) { return ".param .b32 " + name_of(value); });
    const std::vector<Token> tokens = tokens_of(text_, function.span);
    // Linkage and the list of return parameters, which names no function, may stand before the name.
    std::size_t at = 0;
    while (at < tokens.size() && tokens[at].text != "entry" && tokens[at].text != "func") ++at;
    for (++at; at < tokens.size() && tokens[at].kind != Token::Kind::kIdentifier; ++at) {
      if (is_punctuation(tokens[at], "(")) at = closing(tokens, at);
    }
    append(editor, tokens, at, function.span.begin, copy_name(function.name), added, "");
  }

  // Replaces the name tokens[name] by `renamed`, and puts `added` at the end of the list behind it, or makes
  // a list.
  static void append(TextEditor& editor, const std::vector<Token>& tokens, std::size_t name,
                     std::size_t begin, const std::string& renamed, const std::string& added,
                     const std::string& before_list) {
    if (name + 1 >= tokens.size()) return;
    editor.replace(begin + tokens[name].span.begin, begin + tokens[name].span.end, renamed);
    std::size_t open = name + 1;
    if (!before_list.empty() && is_punctuation(tokens[open], before_list)) ++open;
    if (!is_punctuation(tokens[open], "(")) {
      editor.insert(begin + tokens[name].span.end, before_list + " (" + added + ")");
      return;
    }
    const std::size_t close = closing(tokens, open);
    editor.insert(begin + tokens[close].span.begin, (close == open + 1 ? "" : ", ") + added);
  }

  void prologue(TextEditor& editor, const Function& function, const Node& node) {
    const bool hidden = has_hidden(node);
    std::string text = " .reg .b32 " + joined(node.reads, ", ", [&](unsigned v) { return register_of(v); });
    text += hidden ? ", %" + word_ + "own;" : ";";
    for (unsigned value = 0; value < ptx::kGridValueCount; ++value) {
      if ((node.reads >> value & 1) == 0) continue;
      const std::string into = register_of(value);
      if (!hidden) {
        text += " ld.param.u32 " + into + ", [" + name_of(value) + "];";
        continue;
      }
      text += " ld.param.u32 " + into + ", [" + word_ + "hidden+" + std::to_string(4 * value) + "];";
      if (value >= 3) continue;  // counts come as they are, ids count from the part's first block
      const std::string own = "%" + word_ + "own";
      text += " mov.u32 " + own + ", " + std::string(ptx::kGridRegisters[value]) + "; add.u32 " + into +
              ", " + into + ", " + own + ";";
    }
    editor.insert(function.body_span.begin + 1, text + " ");
  }

  // ---- statements

  void block(TextEditor& editor, const ptx::Block& body) {
    for (const ptx::Statement& statement : body.statements) {
      if (const auto* inner = std::get_if<ptx::Block>(&statement.content)) block(editor, *inner);
      const auto* instruction = std::get_if<ptx::Instruction>(&statement.content);
      if (instruction == nullptr) continue;
      if (instruction->opcode[0] == "call") {
        call(editor, *instruction, statement.span);
      } else if (reads(*instruction)) {
        replace(editor, statement.span);
      }
    }
  }

  static bool reads(const ptx::Instruction& instruction) {
    return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                       [](const ptx::Operand& operand) { return ptx::grid_value_of(operand.text) >= 0; });
  }

  void replace(TextEditor& editor, const ptx::Span& span) const {
    const std::vector<Token> tokens = tokens_of(text_, span);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const std::string name = std::string(tokens[i].text) + "." + std::string(tokens[i + 1].text);
      if (tokens[i + 1].kind != Token::Kind::kDotWord || ptx::grid_value_of(name) < 0) continue;
      editor.replace(span.begin + tokens[i].span.begin, span.begin + tokens[i + 1].span.end,
                     register_of(static_cast<unsigned>(ptx::grid_value_of(name))));
    }
  }

  // { .param .b32 a; st.param.b32 [a], value; call ..., (..., a); }: arguments as compilers pass them.
  void call(TextEditor& editor, const ptx::Instruction& instruction, const ptx::Span& span) {
    const auto& operands = instruction.operands;
    const std::size_t named = !operands.empty() && operands[0].kind == ptx::Operand::Kind::kList ? 1 : 0;
    const Node* callee = named < operands.size() ? graph_.find(operands[named].text) : nullptr;
    if (callee == nullptr || !callee->takes_values()) return;
    const GridValues values = callee->reads;
    const auto argument = [&](unsigned value) { return name_of(value) + "_argument"; };
    std::string before = "{ .param .b32 " + joined(values, ", ", argument) + "; ";
    before += joined(values, " ", [&](unsigned value) {
      return "st.param.b32 [" + argument(value) + "], " + register_of(value) + ";";
    });
    editor.insert(span.begin, before + " ");
    const std::vector<Token> tokens = tokens_of(text_, span);
    std::size_t at = 0;
    if (instruction.guard) at = instruction.guard->negated ? 3 : 2;  // the predicate may have any name
    for (++at; at < tokens.size() && tokens[at].kind != Token::Kind::kIdentifier; ++at) {
      if (is_punctuation(tokens[at], "(")) at = closing(tokens, at);
    }
    append(editor, tokens, at, span.begin, copy_name(operands[named].text), joined(values, ", ", argument),
           ",");
    editor.insert(span.end, " }");
  }

  std::string_view text_;
  const ptx::Module& module_;
  CallGraph& graph_;
  const std::string word_;
};

}  // namespace

HiddenParameter hidden_parameter(const Extent& blocks, const Box& part) {
  HiddenParameter parameter;
  for (std::size_t d = 0; d < kMaxDimensions; ++d) {
    parameter.first[d] = static_cast<std::uint32_t>(part.first[d]);
    parameter.counts[d] = static_cast<std::uint32_t>(blocks[d]);
  }
  return parameter;
}

std::variant<SlicedModule, RewriteError> rewrite_for_slicing(std::string_view text,
                                                             const RewriteOptions& options) {
  auto parsed = ptx::parse(text);
  if (const auto* error = std::get_if<ptx::ParseError>(&parsed))
    return RewriteError{error->line, error->message};
  const ptx::Module& module = std::get<ptx::Module>(parsed);
  CallGraph graph(module, options.linked);
  if (const Function* twice = graph.duplicate()) {
    return RewriteError{twice->span.line, twice->name + " is defined a second time"};
  }
  return Rewriter(text, module, graph).run();
}

}  // namespace fairgv::slicing
