// A PTX module as a tree: the reader makes it from the text, the printer writes it as text again, and the
// CUDA translator and the PTX slicer work on it. Follows the PTX ISA's sections "Syntax", "State Spaces,
// Types, and Variables", "Instruction Operands" and "Directives". Nothing is interpreted here: opcodes, types
// and attributes stay words, so that a new instruction needs no change of the reader.
//
// Plain values: copy and change them freely. Every statement knows the bytes of the text that it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fairgv::slicing::ptx {

/// A place in the text. A thing that was not read from a text has line 0.
struct Span {
  std::size_t begin = 0;  // bytes
  std::size_t end = 0;
  int line = 0;  // of its first byte, counted from 1
};

/// An operand of an instruction, or an element of an initialiser.
struct Operand {
  enum class Kind {
    kName,  // register, variable, label, function or special register; with `offset` when written name+offset
    kInteger,  // literal or constant expression of literals: its bits in `bits`
    kFloat,    // `bits` are those of a double, or of a float when `single` (0f...)
    kVector,   // {a, b}; also a nested initialiser
    kAddress,  // [base+offset]: `parts[0]` is the base, more parts where the instruction has them ([tex, {x,
               // y}])
    kPair,     // a|b
    kList,     // (a, b): arguments of a call
    kWrapped,  // generic(x) or mask(x) of an initialiser: `text` is the word
  };
  Kind kind = Kind::kName;
  bool negated = false;  // !p or -x
  bool single = false;
  std::string text;  // a name, or a literal as it was written
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<Operand> parts;

  bool operator==(const Operand&) const = default;
};

/// @p or @!p in front of an instruction.
struct Guard {
  std::string predicate;
  bool negated = false;

  bool operator==(const Guard&) const = default;
};

struct Instruction {
  std::optional<Guard> guard;
  std::vector<std::string> opcode;  // "ld.global.u32" as {"ld", "global", "u32"}
  std::vector<Operand> operands;

  bool operator==(const Instruction&) const = default;
};

struct Label {
  std::string name;

  bool operator==(const Label&) const = default;
};

/// A variable, a register or a parameter. Registers written %r<5> have `count` 5 and the name "%r".
struct Variable {
  std::vector<std::string> linkage;  // visible, extern, weak, common
  std::string space;                 // reg, local, shared, param, global, const, tex
  std::vector<std::string>
      attributes;                   // "ptr .global .align 16" of a parameter, attribute(.managed), as written
  std::uint32_t alignment = 0;      // bytes; 0 = not said
  std::uint32_t vector_length = 1;  // .v2, .v4
  std::string type;                 // u32, b8, f64, pred
  std::string name;
  std::optional<std::uint32_t> count;
  std::vector<std::uint64_t> dimensions;  // elements; 0 = not said ([])
  std::optional<Operand> initial;

  bool operator==(const Variable&) const = default;
};

/// Everything else that begins with a dot, word by word: .loc, .pragma, .branchtargets, .callprototype,
/// .file, .section.
struct Directive {
  std::string name;                // without the dot
  std::vector<std::string> words;  // as written, punctuation included

  bool operator==(const Directive&) const = default;
};

struct Statement;
struct Block {
  std::vector<Statement> statements;

  bool operator==(const Block&) const;
};

/// Two statements are equal when they say the same, wherever they stand.
struct Statement {
  Span span;
  std::variant<Instruction, Label, Variable, Directive, Block> content;

  bool operator==(const Statement& other) const { return content == other.content; }
};

inline bool Block::operator==(const Block& other) const {
  return statements == other.statements;
}

/// .entry or .func, a declaration where it has no body.
struct Function {
  Span span;
  Span body_span;
  std::vector<std::string> linkage;
  bool entry = false;
  std::vector<Variable> returns;
  std::string name;
  std::vector<Variable> parameters;
  std::vector<Directive> directives;  // maxntid, reqntid, minnctapersm, noreturn ...
  std::optional<Block> body;

  bool operator==(const Function& other) const {
    return linkage == other.linkage && entry == other.entry && returns == other.returns &&
           name == other.name && parameters == other.parameters && directives == other.directives &&
           body == other.body;
  }
};

struct ModuleVariable {
  Span span;
  Variable variable;

  bool operator==(const ModuleVariable& other) const { return variable == other.variable; }
};

struct ModuleDirective {
  Span span;
  Directive directive;

  bool operator==(const ModuleDirective& other) const { return directive == other.directive; }
};

struct Module {
  std::uint32_t version_major = 0;
  std::uint32_t version_minor = 0;
  std::vector<std::string> targets;  // "sm_75", "debug"
  std::uint32_t address_size = 64;   // bits
  std::vector<std::variant<Function, ModuleVariable, ModuleDirective>> items;

  bool operator==(const Module&) const = default;
};

}  // namespace fairgv::slicing::ptx
