#include "slicing/ptx/parser.hpp"

#include "slicing/ptx/cursor.hpp"

namespace fairgv::slicing::ptx {
namespace {

constexpr int kDeepestBlock = 64;

std::string word_of(const Token& token) {
  return token.kind == Token::Kind::kDotWord ? "." + std::string(token.text) : std::string(token.text);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  std::variant<Module, ParseError> run() {
    header();
    while (!cursor_.failed() && !cursor_.at_end()) item();
    if (cursor_.failed()) return cursor_.error();
    return std::move(module_);
  }

 private:
  void header() {
    if (!cursor_.accept_dot("version")) return cursor_.fail("PTX begins with .version");
    const std::string version(cursor_.take().text);
    const std::size_t dot = version.find('.');
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    if (dot == std::string::npos || !integer_literal(version.substr(0, dot), major) ||
        !integer_literal(version.substr(dot + 1), minor)) {
      return cursor_.fail("no version");
    }
    module_.version_major = static_cast<std::uint32_t>(major);
    module_.version_minor = static_cast<std::uint32_t>(minor);
    if (!cursor_.accept_dot("target")) return cursor_.fail(".target is missing here");
    do {
      module_.targets.push_back(cursor_.expect_identifier("a target"));
    } while (!cursor_.failed() && cursor_.accept(","));
    if (cursor_.accept_dot("address_size")) {
      module_.address_size = static_cast<std::uint32_t>(cursor_.expect_integer("an address size"));
    }
  }

  std::vector<std::string> linkage() {
    std::vector<std::string> words;
    while (cursor_.sees_dot("visible") || cursor_.sees_dot("extern") || cursor_.sees_dot("weak") ||
           cursor_.sees_dot("common")) {
      words.emplace_back(cursor_.take().text);
    }
    return words;
  }

  void item() {
    if (cursor_.accept(";")) return;
    const Token first = cursor_.peek();
    std::vector<std::string> words = linkage();
    if (cursor_.sees_dot("entry") || cursor_.sees_dot("func")) {
      Function function = parse_function(std::move(words));
      function.span = cursor_.since(first);
      module_.items.emplace_back(std::move(function));
    } else if (begins_variable(cursor_)) {
      for (Variable& variable : parse_variables(cursor_, std::move(words))) {
        module_.items.emplace_back(ModuleVariable{cursor_.since(first), std::move(variable)});
      }
      cursor_.expect(";");
    } else if (cursor_.peek().kind == Token::Kind::kDotWord) {
      Directive parsed = module_directive();
      module_.items.emplace_back(ModuleDirective{cursor_.since(first), std::move(parsed)});
    } else {
      cursor_.fail("a declaration is missing here");
    }
  }

  // .file ends with its line; .section with its brace; others with a semicolon or, like .alias, their own.
  Directive module_directive() {
    Directive directive;
    directive.name = cursor_.peek().text;
    const int line = cursor_.take().span.line;
    int depth = 0;
    while (!cursor_.failed() && !cursor_.at_end()) {
      if (depth == 0 && !cursor_.sees("{") && cursor_.peek().span.line != line) break;
      depth += cursor_.sees("{") ? 1 : cursor_.sees("}") ? -1 : 0;
      const bool last = depth == 0 && (cursor_.sees(";") || cursor_.sees("}"));
      directive.words.push_back(word_of(cursor_.take()));
      if (last) break;
    }
    return directive;
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> list;
    cursor_.expect("(");
    while (!cursor_.failed() && !cursor_.accept(")")) {
      list.push_back(parse_parameter(cursor_));
      if (!cursor_.sees(")")) cursor_.expect(",");
    }
    return list;
  }

  Function parse_function(std::vector<std::string> words) {
    Function function;
    function.linkage = std::move(words);
    function.entry = cursor_.take().text == "entry";
    while (cursor_.sees_dot("attribute")) function.directives.push_back(function_directive());
    if (!function.entry && cursor_.sees("(")) function.returns = parameters();
    function.name = cursor_.expect_identifier("a function's name");
    if (cursor_.sees("(")) function.parameters = parameters();
    while (!cursor_.failed() && cursor_.peek().kind == Token::Kind::kDotWord && !cursor_.sees("{")) {
      if (begins_item()) break;
      function.directives.push_back(function_directive());
    }
    const Token brace = cursor_.peek();
    if (cursor_.sees("{")) {
      function.body = block(0);
      function.body_span = cursor_.since(brace);
    } else {
      cursor_.accept(";");
    }
    return function;
  }

  // A declaration of a function may stand without a semicolon in front of the next item.
  bool begins_item() const {
    return cursor_.sees_dot("visible") || cursor_.sees_dot("extern") || cursor_.sees_dot("weak") ||
           cursor_.sees_dot("entry") || cursor_.sees_dot("func") || begins_variable(cursor_);
  }

  // .maxntid 256, 1, 1 and the like: words up to the first that cannot belong to it.
  Directive function_directive() {
    Directive directive;
    directive.name = cursor_.take().text;
    while (!cursor_.failed() && (cursor_.peek().kind == Token::Kind::kNumber || cursor_.sees(",") ||
                                 cursor_.peek().kind == Token::Kind::kString || cursor_.sees("("))) {
      if (cursor_.sees("(")) {
        while (!cursor_.failed() && !cursor_.sees(")")) directive.words.push_back(word_of(cursor_.take()));
      }
      directive.words.push_back(word_of(cursor_.take()));
    }
    return directive;
  }

  Block block(int depth) {
    Block parsed;
    if (depth > kDeepestBlock) cursor_.fail("too many blocks in each other");
    cursor_.expect("{");
    while (!cursor_.failed() && !cursor_.accept("}")) {
      if (!cursor_.accept(";")) statement(parsed, depth);
    }
    return parsed;
  }

  void statement(Block& parsed, int depth) {
    const Token first = cursor_.peek();
    auto add = [&](auto content) { parsed.statements.push_back({cursor_.since(first), std::move(content)}); };
    if (cursor_.sees("{")) {
      add(block(depth + 1));
    } else if (begins_variable(cursor_)) {
      std::vector<Variable> variables = parse_variables(cursor_, {});
      cursor_.expect(";");
      for (Variable& variable : variables) add(std::move(variable));
    } else if (first.kind == Token::Kind::kDotWord) {
      add(statement_directive());
    } else if (first.kind == Token::Kind::kIdentifier && cursor_.peek(1).text == ":" &&
               cursor_.peek(1).kind == Token::Kind::kPunctuation) {
      cursor_.take();
      cursor_.take();
      add(Label{std::string(first.text)});
    } else {
      add(instruction());
    }
  }

  // .loc ends with its line, all others with a semicolon.
  Directive statement_directive() {
    Directive directive;
    directive.name = cursor_.peek().text;
    const int line = cursor_.take().span.line;
    while (!cursor_.failed() && !cursor_.at_end()) {
      if (directive.name == "loc" && cursor_.peek().span.line != line) break;
      if (cursor_.accept(";")) break;
      if (cursor_.sees("}")) break;
      directive.words.push_back(word_of(cursor_.take()));
    }
    return directive;
  }

  Instruction instruction() {
    Instruction parsed;
    if (cursor_.accept("@")) {
      Guard guard;
      guard.negated = cursor_.accept("!");
      guard.predicate = cursor_.expect_identifier("a predicate");
      parsed.guard = guard;
    }
    parsed.opcode.push_back(cursor_.expect_identifier("an instruction"));
    while (!cursor_.failed() && cursor_.peek().kind == Token::Kind::kDotWord) {
      parsed.opcode.emplace_back(cursor_.take().text);
    }
    while (!cursor_.failed() && !cursor_.accept(";")) {
      parsed.operands.push_back(parse_operand(cursor_));
      if (!cursor_.sees(";")) cursor_.expect(",");
    }
    return parsed;
  }

  Cursor cursor_;
  Module module_;
};

}  // namespace

std::variant<Module, ParseError> parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace fairgv::slicing::ptx
