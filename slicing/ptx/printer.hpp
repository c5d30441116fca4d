// Writing a module as PTX text again: parse(print(m)) equals m. Layout and comments of the original are not
// kept; to keep them, edit the original text by the spans of the model.
#pragma once

#include <string>

#include "slicing/ptx/model.hpp"

namespace fairgv::slicing::ptx {

std::string print(const Module& module);
std::string print(const Instruction& instruction);  // one line, with its semicolon

}  // namespace fairgv::slicing::ptx
