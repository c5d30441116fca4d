#include "slicing/ptx/cursor.hpp"

namespace fairgv::slicing::ptx {

const Token& Cursor::peek(std::size_t ahead) const {
  static const Token kNothing;
  if (failed()) return kNothing;
  const std::size_t index = position_ + ahead;
  return index < tokens_.size() ? tokens_[index] : tokens_.back();
}

const Token& Cursor::take() {
  const Token& token = peek();
  if (token.kind == Token::Kind::kError) fail("this is no PTX");
  if (!failed() && position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool Cursor::sees(std::string_view punctuation) const {
  return peek().kind == Token::Kind::kPunctuation && peek().text == punctuation;
}

bool Cursor::sees_dot(std::string_view word) const {
  return peek().kind == Token::Kind::kDotWord && peek().text == word;
}

bool Cursor::accept(std::string_view punctuation) {
  if (!sees(punctuation)) return false;
  take();
  return true;
}

bool Cursor::accept_dot(std::string_view word) {
  if (!sees_dot(word)) return false;
  take();
  return true;
}

void Cursor::expect(std::string_view punctuation) {
  if (!accept(punctuation)) fail("'" + std::string(punctuation) + "' is missing here");
}

std::string Cursor::expect_identifier(std::string_view what) {
  if (peek().kind != Token::Kind::kIdentifier) {
    fail(std::string(what) + " is missing here");
    return {};
  }
  return std::string(take().text);
}

std::uint64_t Cursor::expect_integer(std::string_view what) {
  std::uint64_t bits = 0;
  if (peek().kind != Token::Kind::kNumber || !integer_literal(peek().text, bits)) {
    fail(std::string(what) + " is missing here");
    return 0;
  }
  take();
  return bits;
}

void Cursor::fail(std::string message) {
  if (failed()) return;
  const Token& token = peek();
  if (!token.text.empty()) message += ", at \"" + std::string(token.text.substr(0, 40)) + "\"";
  error_ = {token.span.line > 0 ? token.span.line : 1, std::move(message)};
}

Span Cursor::since(const Token& first) const {
  if (failed() || position_ == 0) return first.span;
  return {first.span.begin, tokens_[position_ - 1].span.end, first.span.line};
}

bool integer_literal(std::string_view text, std::uint64_t& bits) {
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  unsigned base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'b') {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  bits = 0;
  for (const char c : text) {
    unsigned digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') digit = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    if (digit >= base) return false;
    bits = bits * base + digit;
  }
  return !text.empty();
}

}  // namespace fairgv::slicing::ptx
