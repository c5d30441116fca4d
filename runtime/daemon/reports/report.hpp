// The report for `fairgv ps`: one look at tenants, sessions and devices.
#pragma once

#include <chrono>
#include <string>

#include "runtime/control/protocol.hpp"
#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {

/// Lists tenants that have sessions, and those that used a device of late. Charges running
/// turns up to now, so that times are current.
control::Report make_report(Host& host, const SessionTable& sessions, const std::string& socket,
                            std::chrono::steady_clock::time_point started);

}  // namespace fairgv::daemon
