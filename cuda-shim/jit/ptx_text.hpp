// PTX texts as linkers get and make them. Pure logic.
#pragma once

#include <string>
#include <string_view>

namespace fairgv::jit {

/// Whether this is a PTX text: its first directive is .version, as PTX demands. It may end with zeros.
bool is_ptx(std::string_view bytes);

/// The text with `.maxnreg most` at every kernel that has no such directive of its own.
std::string with_register_limit(std::string_view ptx, unsigned most);

}  // namespace fairgv::jit
