// Tells PTX from other inputs of linkers. Pure logic.
#pragma once

#include <string_view>

namespace fairgv::jit {

/// Whether this is a PTX text: its first directive is .version, as PTX demands. It may end with zeros.
bool is_ptx(std::string_view bytes);

}  // namespace fairgv::jit
