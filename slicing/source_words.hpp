// The words of an OpenCL C source, its identifiers and keywords, and its punctuation, in order, without the
// contents of comments and literals. Not a parser: it knows no scopes, and follows no #include and no #if.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairgv::slicing {

class SourceWords {
 public:
  explicit SourceWords(std::string_view source);

  // The results of next() and next_token() are valid while this object lives; nothing at the end.

  // The next word.
  std::optional<std::string_view> next();
  // The next word or character of punctuation.
  std::optional<std::string_view> next_token();
  // The rest of the line is passed over: of a directive, after its #.
  void skip_line();

 private:
  bool skip_comment_or_literal();

  std::string text_;  // without line splices
  std::size_t position_ = 0;
};

}  // namespace fairgv::slicing
