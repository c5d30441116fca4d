#include "cuda-shim/jit/ptx_text.hpp"

namespace fairgv::jit {

bool is_ptx(std::string_view text) {
  const auto skip_behind = [&](std::string_view end) {
    const auto at = text.find(end);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  };
  while (!text.empty()) {
    const auto at = text.find_first_not_of(" \t\r\n\v\f");
    text.remove_prefix(at == std::string_view::npos ? text.size() : at);
    if (text.starts_with("//")) {
      skip_behind("\n");
    } else if (text.starts_with("/*")) {
      skip_behind("*/");
    } else {
      return text.starts_with(".version");
    }
  }
  return false;
}

namespace {

/// Words, names and directives as one, other characters by themselves; without comments and white space.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next() {
    skip_blanks();
    begin_ = at_;
    if (at_ == text_.size()) return {};
    if (text_[at_] == '"') {
      at_ = behind(text_.find('"', at_ + 1), 1);
    } else {
      ++at_;
      if (text_[begin_] == '.' || is_part(text_[begin_]))
        while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    }
    return text_.substr(begin_, at_ - begin_);
  }
  std::size_t begin() const { return begin_; }

 private:
  static bool is_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
  }
  std::size_t behind(std::size_t found, std::size_t length) const {
    return found == std::string_view::npos ? text_.size() : found + length;
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("//")) {
        at_ = behind(text_.find('\n', at_), 1);
      } else if (text_.substr(at_).starts_with("/*")) {
        at_ = behind(text_.find("*/", at_ + 2), 2);
      } else if (std::string_view(" \t\r\n\v\f").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  const std::string_view text_;
  std::size_t begin_ = 0;  // of the latest token
  std::size_t at_ = 0;
};

}  // namespace

std::string with_register_limit(std::string_view ptx, unsigned most) {
  const std::string directive = " .maxnreg " + std::to_string(most) + "\n";
  std::string limited;
  std::size_t copied = 0;
  Tokens tokens(ptx);
  for (auto token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token != ".entry") continue;
    // The body begins at the first brace; a declaration has none.
    bool has_limit = false;
    while (!token.empty() && token != "{" && token != ";") {
      token = tokens.next();
      has_limit = has_limit || token == ".maxnreg";
    }
    if (token != "{" || has_limit) continue;
    limited += ptx.substr(copied, tokens.begin() - copied);
    limited += directive;
    copied = tokens.begin();
  }
  return limited += ptx.substr(copied);
}

}  // namespace fairgv::jit
