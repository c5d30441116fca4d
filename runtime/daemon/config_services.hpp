// [metrics] and [usage] of the configuration.
//
// Private to config.cpp.
#pragma once

#include "runtime/daemon/config.hpp"
#include "runtime/daemon/config_table.hpp"

namespace fairgv::daemon {

void read_metrics(const toml::table& source, MetricsRule& rule, ConfigErrors& errors);
void read_usage(const toml::table& source, UsageRule& rule, ConfigErrors& errors);

}  // namespace fairgv::daemon
