// Reading PTX text into its tree. Pure: no input or output, safe to call from any thread, and total: whatever
// the text is, the answer is a module or one error with its line.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "slicing/ptx/model.hpp"

namespace fairgv::slicing::ptx {

struct ParseError {
  int line = 0;
  std::string message;
};

std::variant<Module, ParseError> parse(std::string_view text);

}  // namespace fairgv::slicing::ptx
