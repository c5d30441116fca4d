#include "slicing/ptx/lexer.hpp"

namespace fairgv::slicing::ptx {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool begins_name(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}
bool continues_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      tokens.push_back(next());
    } while (tokens.back().kind != Token::Kind::kEnd && tokens.back().kind != Token::Kind::kError);
    return tokens;
  }

 private:
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

  Token make(Token::Kind kind, std::size_t begin, std::size_t end, std::size_t skipped = 0) {
    position_ = end;
    return {kind, text_.substr(begin + skipped, end - begin - skipped), {begin, end, line_}};
  }

  Token next() {
    if (!skip_blank()) return make(Token::Kind::kError, position_, text_.size());
    if (position_ >= text_.size()) return make(Token::Kind::kEnd, text_.size(), text_.size());
    const std::size_t begin = position_;
    const char c = text_[begin];
    if (is_digit(c)) return number(begin);
    if (begins_name(c)) {
      std::size_t end = begin + 1;
      while (continues_name(at(end))) ++end;
      return make(Token::Kind::kIdentifier, begin, end);
    }
    if (c == '.' && continues_name(at(begin + 1))) return dot_word(begin);
    if (c == '"') return string(begin);
    constexpr std::string_view kPunctuation = ",;:(){}[]<>@!|+-*/%=~^&?";
    if (kPunctuation.find(c) != std::string_view::npos)
      return make(Token::Kind::kPunctuation, begin, begin + 1);
    return make(Token::Kind::kError, begin, begin + 1);
  }

  Token number(std::size_t begin) {
    // 0f and 0d are followed by the digits of the float's bits; otherwise letters of a suffix or of the base
    // follow.
    std::size_t end = begin;
    while (continues_name(at(end))) ++end;
    if (at(end) == '.' && is_digit(at(end + 1))) {
      ++end;
      while (continues_name(at(end)) || ((at(end) == '-' || at(end) == '+') && (at(end - 1) | 0x20) == 'e'))
        ++end;
    }
    return make(Token::Kind::kNumber, begin, end);
  }

  Token dot_word(std::size_t begin) {
    std::size_t end = begin + 1;
    while (continues_name(at(end)) || (at(end) == ':' && at(end + 1) == ':' && continues_name(at(end + 2)))) {
      end += at(end) == ':' ? std::size_t{2} : std::size_t{1};
    }
    return make(Token::Kind::kDotWord, begin, end, 1);
  }

  Token string(std::size_t begin) {
    const std::size_t end = text_.find('"', begin + 1);
    if (end == std::string_view::npos) return make(Token::Kind::kError, begin, text_.size());
    return make(Token::Kind::kString, begin, end + 1);
  }

  // Blanks and comments. False at a comment without an end.
  bool skip_blank() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '\n') {
        ++line_;
        ++position_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
        ++position_;  // images in fatbins are padded with zeros
      } else if (c == '/' && at(position_ + 1) == '/') {
        while (position_ < text_.size() && text_[position_] != '\n') ++position_;
      } else if (c == '/' && at(position_ + 1) == '*') {
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == std::string_view::npos) return false;
        for (; position_ < end + 2; ++position_) line_ += text_[position_] == '\n' ? 1 : 0;
      } else {
        return true;
      }
    }
    return true;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Lexer(text).run();
}

}  // namespace fairgv::slicing::ptx
