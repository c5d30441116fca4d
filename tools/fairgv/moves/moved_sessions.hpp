// A request that moves sessions, and a line for each of them.
#pragma once

#include <string>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

/// Asks the daemon and prints its answer, as lines or as JSON; a session that stays is a line on standard
/// error. The exit status.
int ask_and_print_moves(const std::string& name, const control::ControlRequest& request,
                        const std::string& socket, bool json);

}  // namespace fairgv::tools
