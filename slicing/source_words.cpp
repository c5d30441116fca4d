#include "slicing/source_words.hpp"

#include <algorithm>

namespace fairgv::slicing {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// A backslash at the end of a line joins it with the next one, even within a word.
std::string without_splices(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view rest = source.substr(i);
    if (rest.starts_with("\\\n")) {
      i += 1;
    } else if (rest.starts_with("\\\r\n")) {
      i += 2;
    } else {
      text.push_back(source[i]);
    }
  }
  return text;
}

}  // namespace

SourceWords::SourceWords(std::string_view source) : text_(without_splices(source)) {}

std::optional<std::string_view> SourceWords::next() {
  auto token = next_token();
  while (token && !is_word(token->front())) token = next_token();
  return token;
}

std::optional<std::string_view> SourceWords::next_token() {
  const std::string_view text = text_;
  while (position_ < text.size()) {
    if (skip_comment_or_literal()) continue;
    const std::size_t begin = position_++;
    if (is_space(text[begin])) continue;
    if (!is_word(text[begin])) return text.substr(begin, 1);
    while (position_ < text.size() && is_word(text[position_])) ++position_;
    // Numbers with their suffixes are not words.
    if (!is_digit(text[begin])) return text.substr(begin, position_ - begin);
  }
  return std::nullopt;
}

void SourceWords::skip_line() {
  position_ = std::min(text_.find('\n', position_), text_.size());
}

bool SourceWords::skip_comment_or_literal() {
  const std::string_view text = text_;
  const auto skip_past = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    position_ = found == std::string_view::npos ? text.size() : found + end.size();
    return true;
  };
  const std::string_view rest = text.substr(position_);
  if (rest.starts_with("//")) return skip_past("\n", position_ + 2);
  if (rest.starts_with("/*")) return skip_past("*/", position_ + 2);
  const char quote = rest.front();
  if (quote != '"' && quote != '\'') return false;
  ++position_;
  // A lone apostrophe (in an #error, say) ends with its line.
  while (position_ < text.size() && text[position_] != quote && text[position_] != '\n') {
    position_ += text[position_] == '\\' ? 2u : 1u;
  }
  position_ = std::min(position_ + 1, text.size());
  return true;
}

}  // namespace fairgv::slicing
