// Lines for people on the standard error of a program that runs as a tenant.
#pragma once

#include <string_view>

namespace fairgv::session {

/// Prints "fairgv: LINE", unless the program's environment has FAIRGV_LOG=off.
void say(std::string_view line);

}  // namespace fairgv::session
