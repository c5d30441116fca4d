#include "icd/includes/directives.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/wire/insertion.hpp"

namespace fairgv::icd::includes {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reads a text with continued lines joined.
class Characters {
 public:
  explicit Characters(std::string_view text) : text_(text) { join_lines(); }

  bool ended() const { return at_ >= text_.size(); }
  bool line_ended() const { return ended() || text_[at_] == '\n'; }
  /// '\0' at the end.
  char next() const { return ended() ? '\0' : text_[at_]; }
  std::size_t position() const { return at_; }
  char take() {
    const char taken = text_[at_++];
    join_lines();
    return taken;
  }
  bool begins_with(std::string_view what) const {
    Characters ahead = *this;
    return std::all_of(what.begin(), what.end(), [&](char c) { return !ahead.ended() && ahead.take() == c; });
  }
  bool take_if(std::string_view what) {
    if (next() != what.front() || !begins_with(what)) return false;
    for (std::size_t left = what.size(); left > 0; --left) take();
    return true;
  }

 private:
  /// Compilers take a backslash with blanks behind it, too.
  void join_lines() {
    while (at_ < text_.size() && text_[at_] == '\\') {
      std::size_t end = at_ + 1;
      while (end < text_.size() && is_blank(text_[end])) ++end;
      if (end >= text_.size() || text_[end] != '\n') return;
      at_ = end + 1;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text) {}

  Directives find() && {
    bool line_is_empty = true;
    while (!text_.ended()) {
      if (text_.next() == '\n') {
        text_.take();
        line_is_empty = true;
      } else if (skip_blank()) {
      } else if (line_is_empty && (text_.take_if("#") || text_.take_if("%:"))) {
        read_directive();
        line_is_empty = false;
      } else {
        take_token();
        line_is_empty = false;
      }
    }
    return std::move(found_);
  }

 private:
  /// Skips one blank or comment.
  bool skip_blank() {
    if (is_blank(text_.next())) {
      text_.take();
      return true;
    }
    if (text_.take_if("//")) {
      while (!text_.line_ended()) text_.take();
      return true;
    }
    if (!text_.take_if("/*")) return false;
    while (!text_.ended() && !text_.take_if("*/")) text_.take();
    return true;
  }
  void skip_blanks() {
    while (skip_blank()) {
    }
  }

  std::string take_word() {
    std::string word;
    while (is_word(text_.next())) word += text_.take();
    return word;
  }

  /// A string or character literal, as far as its line goes; a word; or one character.
  std::string take_token() {
    const char quote = text_.next();
    if (is_word(quote)) return take_word();
    std::string token(1, text_.take());
    if (quote != '"' && quote != '\'') return token;
    while (!text_.line_ended()) {
      token += text_.take();
      if (token.back() == quote) break;
      if (token.back() == '\\' && !text_.line_ended()) token += text_.take();
    }
    return token;
  }

  std::string rest_of_line() {
    std::string rest;
    for (;;) {
      const bool blank = skip_blank();
      if (blank) skip_blanks();
      if (text_.line_ended()) return rest;
      if (blank && !rest.empty()) rest += ' ';
      rest += take_token();
    }
  }

  /// A name in quotes or brackets, in which only the end has a meaning.
  std::optional<Directive> header_name() {
    Directive directive;
    const char opening = text_.next();
    if (opening != '"' && opening != '<') return std::nullopt;
    directive.form = opening == '"' ? Directive::Form::quoted : Directive::Form::angled;
    const char closing = opening == '"' ? '"' : '>';
    text_.take();
    directive.begin = text_.position();
    while (!text_.line_ended() && text_.next() != closing) directive.name += text_.take();
    if (text_.line_ended() || directive.name.empty()) return std::nullopt;
    text_.take();
    return directive;
  }

  void read_directive() {
    skip_blanks();
    const std::string word = take_word();
    if (word == "include" || word == "include_next" || word == "import") {
      read_include();
    } else if (word == "define") {
      read_definition();
    } else if (word == "if" || word == "elif") {
      read_condition();
    }
  }

  void read_include() {
    skip_blanks();
    if (text_.next() == '"' || text_.next() == '<') {
      if (auto named = header_name()) found_.includes.push_back(std::move(*named));
      return;
    }
    Directive computed{Directive::Form::computed, {}, text_.position()};
    computed.name = rest_of_line();
    if (!computed.name.empty()) found_.includes.push_back(std::move(computed));
  }

  void read_definition() {
    skip_blanks();
    Macro macro{take_word(), {}};
    if (text_.next() == '(') return;
    macro.value = rest_of_line();
    if (!macro.name.empty() && !macro.value.empty()) found_.macros.push_back(std::move(macro));
  }

  void read_condition() {
    while (skip_blanks(), !text_.line_ended()) {
      const std::string token = take_token();
      if (token != "__has_include" && token != "__has_include_next") continue;
      skip_blanks();
      if (!text_.take_if("(")) continue;
      skip_blanks();
      if (auto named = header_name()) found_.includes.push_back(std::move(*named));
    }
  }

  Characters text_;
  Directives found_;
};

bool is_absolute(const Directive& directive) {
  return directive.form != Directive::Form::computed && directive.name.front() == '/';
}

}  // namespace

Directives find_directives(std::string_view text) {
  // Most sources include nothing, and some are long.
  if (text.find("include") == std::string_view::npos && text.find("import") == std::string_view::npos &&
      text.find('\\') == std::string_view::npos && text.find("define") == std::string_view::npos) {
    return {};
  }
  return Finder(text).find();
}

bool names_absolute_path(const Directives& directives) {
  return std::any_of(directives.includes.begin(), directives.includes.end(), is_absolute);
}

std::string with_paths_below(std::string_view root, std::string_view text, const Directives& directives) {
  std::vector<std::size_t> places;
  for (const Directive& directive : directives.includes) {
    if (is_absolute(directive)) places.push_back(directive.begin);
  }
  return wire::with_insertions(text, places, root);
}

}  // namespace fairgv::icd::includes
