// Declarations of variables, registers and parameters (PTX ISA, "State Spaces, Types, and Variables").
#include <algorithm>
#include <array>

#include "slicing/ptx/cursor.hpp"

namespace fairgv::slicing::ptx {
namespace {

bool is_space(std::string_view word) {
  constexpr std::array<std::string_view, 8> kSpaces = {"reg",    "local", "shared",      "param",
                                                       "global", "const", "shared::cta", "tex"};
  return std::find(kSpaces.begin(), kSpaces.end(), word) != kSpaces.end();
}

bool is_type(std::string_view word) {
  constexpr std::array<std::string_view, 27> kTypes = {
      "u8",     "u16",  "u32",  "u64",    "s8",         "s16",     "s32",   "s64",  "b8",
      "b16",    "b32",  "b64",  "b128",   "f16",        "f32",     "f16x2", "f64",  "bf16",
      "bf16x2", "e4m3", "pred", "texref", "samplerref", "surfref", "e5m2",  "tf32", "u128"};
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

// ".attribute(.managed)" and ".ptr .global .align 16", kept as they are written.
void attribute(Cursor& cursor, Variable& variable) {
  std::string word(cursor.take().text);
  if (word == "attribute" && cursor.accept("(")) {
    word += "(";
    while (!cursor.failed() && !cursor.sees(")")) {
      const Token& token = cursor.take();
      word += (token.kind == Token::Kind::kDotWord ? "." : "") + std::string(token.text);
    }
    cursor.expect(")");
    word += ")";
  }
  variable.attributes.push_back(word);
}

void name_and_rest(Cursor& cursor, Variable& variable) {
  variable.name = cursor.expect_identifier("the name of a variable");
  if (cursor.accept("<")) {
    variable.count = static_cast<std::uint32_t>(cursor.expect_integer("a number of registers"));
    cursor.expect(">");
  }
  while (!cursor.failed() && cursor.accept("[")) {
    variable.dimensions.push_back(cursor.sees("]") ? 0 : cursor.expect_integer("a number of elements"));
    cursor.expect("]");
  }
  if (cursor.accept("=")) variable.initial = parse_initial(cursor);
}

// The space, alignment, vector length and type, up to the name. `.ptr .space .align n` belongs to parameters.
void heading(Cursor& cursor, Variable& variable) {
  bool pointer = false;
  while (!cursor.failed() && cursor.peek().kind == Token::Kind::kDotWord) {
    const std::string word(cursor.peek().text);
    if (word == "align") {
      cursor.take();
      const auto alignment = static_cast<std::uint32_t>(cursor.expect_integer("an alignment"));
      if (pointer) {
        variable.attributes.push_back("align " + std::to_string(alignment));
      } else {
        variable.alignment = alignment;
      }
    } else if (variable.type.empty() && (word == "v2" || word == "v4" || word == "v8")) {
      cursor.take();
      variable.vector_length = static_cast<std::uint32_t>(word[1] - '0');
    } else if (variable.type.empty() && is_type(word)) {
      variable.type = cursor.take().text;
    } else if (variable.space.empty() && is_space(word)) {
      variable.space = cursor.take().text;
    } else if (word == "ptr" || word == "attribute" || (pointer && is_space(word))) {
      pointer = pointer || word == "ptr";
      attribute(cursor, variable);
    } else {
      cursor.fail("unknown word in a declaration");
    }
  }
  if (variable.type.empty()) cursor.fail("a type is missing here");
}

}  // namespace

bool begins_variable(const Cursor& cursor) {
  return cursor.peek().kind == Token::Kind::kDotWord && is_space(cursor.peek().text);
}

std::vector<Variable> parse_variables(Cursor& cursor, std::vector<std::string> linkage) {
  Variable common;
  common.linkage = std::move(linkage);
  heading(cursor, common);
  std::vector<Variable> variables;
  do {
    variables.push_back(common);
    name_and_rest(cursor, variables.back());
  } while (!cursor.failed() && cursor.accept(","));
  return variables;
}

Variable parse_parameter(Cursor& cursor) {
  Variable variable;
  heading(cursor, variable);
  name_and_rest(cursor, variable);
  return variable;
}

}  // namespace fairgv::slicing::ptx
