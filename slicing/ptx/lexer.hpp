// PTX text as words, by the PTX ISA's section "Syntax": identifiers, words with a leading dot, numbers,
// strings and punctuation, without comments. A text that stops in the middle of something gives an error
// token, never an exception.
#pragma once

#include <string_view>
#include <vector>

#include "slicing/ptx/model.hpp"

namespace fairgv::slicing::ptx {

struct Token {
  enum class Kind { kIdentifier, kDotWord, kNumber, kString, kPunctuation, kEnd, kError };
  Kind kind = Kind::kEnd;
  std::string_view text;  // in the text that was given; a dot word without its dot; a string with its quotes
  Span span;
};

/// The tokens of `text`, which must outlive them. The last token is kEnd, or kError at text that is not PTX.
std::vector<Token> tokenize(std::string_view text);

}  // namespace fairgv::slicing::ptx
