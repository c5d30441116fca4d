// The report for `fairgv ps`: one look at tenants, sessions and devices.
#pragma once

#include <vector>

#include "runtime/control/protocol.hpp"
#include "runtime/daemon/reports/sources.hpp"

namespace fairgv::daemon {

/// Lists tenants that have sessions, and those that used a device of late. Charges running turns up to now,
/// so that times are current. `daemon`: what there is to say of it but for the windows of time.
control::Report make_report(const Sources& from, control::Report::Daemon daemon);

/// The session's memory on devices whose memory is lent.
std::vector<control::Report::Session::Lent> lent_to(Session& session);

}  // namespace fairgv::daemon
