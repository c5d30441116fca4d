// The specification file that [timegraph] names (sched/policies/timegraph/spec.hpp has its form).
//
// Private to config*.cpp.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/settings.hpp"

namespace fairgv::daemon {

/// Reads the file, if the configuration names one, into config.tenants.timegraph. Each mistake is a line with
/// file and line; an entry that could never hold is one, too: no tenant can have its name, or its reserve is
/// larger than the limit.
void read_timegraph_spec(Config& config, const Settings& settings, ConfigErrors& errors);

}  // namespace fairgv::daemon
