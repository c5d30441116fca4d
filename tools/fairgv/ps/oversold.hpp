// The lines of `fairgv ps` about a device that is oversold.
#pragma once

#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

/// What is bought, used and for sale; then a line for each tenant that has bought. Empty if the device is not
/// oversold.
std::vector<std::string> oversold_lines(const control::Report& report, const control::Report::Device& device);

}  // namespace fairgv::tools
