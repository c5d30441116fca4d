// The rows of the table of options (config/options.hpp), section by section.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/option.hpp"

namespace fairgv::daemon {

// daemon.cpp
ConfigOptions<Config> daemon_options();
ConfigOptions<Config> metrics_options();
ConfigOptions<Config> usage_options();

// device.cpp: all of [device]
ConfigOptions<Config> all_device_options();

// worker.cpp
ConfigOptions<Config> session_options();
ConfigOptions<Config> worker_options();
ConfigOptions<Config> opencl_options();
ConfigOptions<Config> cuda_options();

// tenant.cpp
ConfigOptions<Config> tenants_options();
ConfigOptions<Config> timegraph_options();

}  // namespace fairgv::daemon
