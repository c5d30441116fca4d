// The place in the tokens that a parse has reached, and its error. Private to the reader.
//
// The first error stays and makes every later question answer "no", so that a parse runs out by itself; loops
// check failed().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicing/ptx/lexer.hpp"
#include "slicing/ptx/parser.hpp"

namespace fairgv::slicing::ptx {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : tokens_(tokenize(text)) {}

  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }

  bool sees(std::string_view punctuation) const;
  bool sees_dot(std::string_view word) const;
  /// Takes the token if it is there.
  bool accept(std::string_view punctuation);
  bool accept_dot(std::string_view word);
  /// Takes the token, which must be there, or fails.
  void expect(std::string_view punctuation);
  std::string expect_identifier(std::string_view what);
  std::uint64_t expect_integer(std::string_view what);

  void fail(std::string message);
  bool failed() const { return error_.line != 0; }
  const ParseError& error() const { return error_; }

  /// The span from `first` to the token that was taken last.
  Span since(const Token& first) const;

 private:
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  ParseError error_;
};

/// The bits of an integer literal (decimal, 0x, 0b, octal, with U), or nothing when it is none.
bool integer_literal(std::string_view text, std::uint64_t& bits);

// The grammar's parts; each takes its tokens from the cursor.
Operand parse_operand(Cursor& cursor);
/// Elements and nested braces of an initialiser are operands as well.
Operand parse_initial(Cursor& cursor);
/// A declaration from its space on, up to and without its semicolon, comma or bracket. One declaration may
/// name several.
std::vector<Variable> parse_variables(Cursor& cursor, std::vector<std::string> linkage);
/// One parameter of a function's list.
Variable parse_parameter(Cursor& cursor);
bool begins_variable(const Cursor& cursor);

}  // namespace fairgv::slicing::ptx
