// Mistakes about memory in a configuration that can be found before any device is known.
//
// Private to config.cpp.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/settings.hpp"

namespace fairgv::daemon {

/// Reserves that no device could keep are errors, as far as they can be compared: of one tenant beyond its
/// limit, in per cent beyond 100 in all, in bytes beyond what [device] has to share out. The rest shows when
/// the devices are known (MemoryBook). `settings`: where the values come from.
void check_memory(const Config& config, const Settings& settings, ConfigErrors& errors);

}  // namespace fairgv::daemon
