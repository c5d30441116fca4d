// The lines of `fairgv ps` about commands that held a device beyond their slice.
#pragma once

#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

/// One line for each, in the report's order.
std::vector<std::string> long_command_lines(const control::Report& report);

}  // namespace fairgv::tools
