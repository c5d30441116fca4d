// Folders and files that a configuration names and that are not there.
//
// Private to config.cpp.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/settings.hpp"

namespace fairgv::daemon {

/// Only what a file names is looked at, not defaults. A folder that the calling user may not look into counts
/// as there: users check root's configuration, too. `settings`: where the values come from.
void check_folders(const Config& config, const Settings& settings, ConfigErrors& errors);

}  // namespace fairgv::daemon
