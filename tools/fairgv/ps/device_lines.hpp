// Lines for sessions for which the daemon has chosen devices: which, and why not the others.
//
// Pure logic.
#pragma once

#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

/// A line for each such session; none from a daemon that chooses nothing.
std::vector<std::string> device_lines(const control::Report& report);

}  // namespace fairgv::tools
