// slicing/prelude.cl as text: it is built into the library, so that nothing has to be found at run time.
#pragma once

#include <string_view>

namespace fairgv::slicing {

extern const std::string_view kPreludeText;

}  // namespace fairgv::slicing
