// A daemon of the user's own, for machines where nobody runs one for all.
#pragma once

#include <string>

#include "runtime/ring/result.hpp"

namespace fairgv::tools {

/// Makes sure that a daemon answers at `socket`: starts one in the background if none does. It ends by itself
/// half a minute after its last tenant. Several callers at once end up with one daemon. `config` may be
/// empty; naming one while a daemon runs already is an error, because it would have no effect.
Result<void> ensure_daemon(const std::string& socket, const std::string& config);

}  // namespace fairgv::tools
