// The words of an OpenCL C source: its identifiers and keywords, in order, without what stands in comments
// and literals. Not a parser: it knows no scopes, and follows no #include and no #if.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairgv::slicing {

class SourceWords {
 public:
  explicit SourceWords(std::string_view source);

  // The next word, valid while this object lives; nothing at the end.
  std::optional<std::string_view> next();

 private:
  void skip_comment_or_literal();

  std::string text_;  // without line splices
  std::size_t position_ = 0;
};

}  // namespace fairgv::slicing
