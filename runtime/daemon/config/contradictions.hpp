// Values of a configuration that are right by themselves and cannot hold together. All are told in one run,
// beside mistakes of other kinds: a comparison is left out only where one of the values is unknown.
//
// Private to config.cpp.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/settings.hpp"

namespace fairgv::daemon {

/// Weights beyond the most that they may be, tenant classes that are not there, places that are kept out of
/// fewer. Of memory see config/values/memory.hpp. `settings`: where the values come from.
void check_contradictions(const Config& config, const Settings& settings, ConfigErrors& errors);

}  // namespace fairgv::daemon
