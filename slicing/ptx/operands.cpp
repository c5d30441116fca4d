// Operands of instructions and initialisers (PTX ISA, "Instruction Operands", "Constants", "Initializers").
#include <bit>
#include <cstdlib>

#include "slicing/ptx/cursor.hpp"

namespace fairgv::slicing::ptx {
namespace {

constexpr int kDeepest =
    16;  // of nested braces and brackets: a text of a million of them must not use up the stack

Operand parse_nested(Cursor& cursor, int depth);

bool float_bits(std::string_view text, Operand& operand) {
  const bool hex = text.size() > 2 && text[0] == '0';
  const char kind = hex ? static_cast<char>(text[1] | 0x20) : '\0';
  if (kind == 'f' || kind == 'd') {
    const std::size_t digits = kind == 'f' ? 8 : 16;
    std::string as_hex = "0x" + std::string(text.substr(2));
    operand.single = kind == 'f';
    return text.size() == digits + 2 && integer_literal(as_hex, operand.bits);
  }
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  operand.bits = std::bit_cast<std::uint64_t>(value);
  return end == copy.c_str() + copy.size();
}

Operand number(Cursor& cursor) {
  Operand operand;
  const std::string_view text = cursor.peek().text;
  operand.text = std::string(text);
  if (integer_literal(text, operand.bits)) {
    operand.kind = Operand::Kind::kInteger;
  } else if (float_bits(text, operand)) {
    operand.kind = Operand::Kind::kFloat;
  } else {
    cursor.fail("no number");
  }
  cursor.take();
  return operand;
}

Operand group(Cursor& cursor, Operand::Kind kind, std::string_view close, int depth) {
  Operand operand;
  operand.kind = kind;
  cursor.take();
  while (!cursor.failed() && !cursor.accept(close)) {
    operand.parts.push_back(parse_nested(cursor, depth + 1));
    if (!cursor.sees(close)) cursor.expect(",");
  }
  return operand;
}

// name, name.x, name+4, generic(name)
Operand name(Cursor& cursor, int depth) {
  Operand operand;
  operand.text = cursor.expect_identifier("a name");
  if ((operand.text == "generic" || operand.text == "mask") && cursor.sees("(")) {
    const std::string word = operand.text;
    operand = group(cursor, Operand::Kind::kWrapped, ")", depth);
    operand.text = word;
    return operand;
  }
  while (!cursor.failed() && cursor.peek().kind == Token::Kind::kDotWord) {
    operand.text += "." + std::string(cursor.take().text);
  }
  return operand;
}

// The offsets behind a name or a number: +4, -4, and for literals any sum.
void add_offsets(Cursor& cursor, Operand& operand) {
  while (!cursor.failed() && (cursor.sees("+") || cursor.sees("-"))) {
    const bool minus = cursor.take().text == "-";
    const bool again = cursor.accept("-");  // [a+-4]
    const std::uint64_t value = cursor.expect_integer("an offset");
    const std::uint64_t signed_value = minus != again ? 0 - value : value;
    if (operand.kind == Operand::Kind::kInteger) {
      operand.bits += signed_value;
      operand.text = std::to_string(operand.bits);
    } else {
      operand.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.offset) + signed_value);
    }
  }
}

Operand negative(Cursor& cursor, int depth) {
  cursor.take();
  Operand operand = parse_nested(cursor, depth + 1);
  if (operand.kind == Operand::Kind::kInteger) {
    operand.bits = 0 - operand.bits;
    operand.text = operand.text.starts_with('-') ? operand.text.substr(1) : "-" + operand.text;
  } else if (operand.kind == Operand::Kind::kFloat) {
    operand.bits ^= operand.single ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
    operand.text = "-" + operand.text;
  } else {
    cursor.fail("only numbers can be negative here");
  }
  return operand;
}

Operand parse_nested(Cursor& cursor, int depth) {
  if (depth > kDeepest) cursor.fail("too many brackets in each other");
  if (cursor.failed()) return {};
  Operand operand;
  if (cursor.sees("{")) {
    operand = group(cursor, Operand::Kind::kVector, "}", depth);
  } else if (cursor.sees("[")) {
    operand = group(cursor, Operand::Kind::kAddress, "]", depth);
  } else if (cursor.sees("(")) {
    operand = group(cursor, Operand::Kind::kList, ")", depth);
  } else if (cursor.sees("-")) {
    operand = negative(cursor, depth);
  } else if (cursor.accept("!")) {
    operand = name(cursor, depth);
    operand.negated = true;
  } else if (cursor.peek().kind == Token::Kind::kNumber) {
    operand = number(cursor);
    if (operand.kind == Operand::Kind::kInteger && cursor.sees("(")) {
      const std::string mask = operand.text;  // 0xff00(variable): a byte of an address
      const std::uint64_t bits = operand.bits;
      operand = group(cursor, Operand::Kind::kWrapped, ")", depth);
      operand.text = mask;
      operand.bits = bits;
    } else {
      add_offsets(cursor, operand);
    }
  } else {
    operand = name(cursor, depth);
    add_offsets(cursor, operand);
  }
  if (cursor.sees("|") && depth == 0) {
    cursor.take();
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.parts.push_back(std::move(operand));
    pair.parts.push_back(parse_nested(cursor, depth + 1));
    return pair;
  }
  return operand;
}

}  // namespace

Operand parse_operand(Cursor& cursor) {
  return parse_nested(cursor, 0);
}

Operand parse_initial(Cursor& cursor) {
  return parse_nested(cursor, 1);
}

}  // namespace fairgv::slicing::ptx
