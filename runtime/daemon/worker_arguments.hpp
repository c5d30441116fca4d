// The command line of a session's worker: what `fairgv-vgpu --help` lists.
#pragma once

#include <string>
#include <vector>

#include "runtime/daemon/config.hpp"
#include "runtime/daemon/session.hpp"

namespace fairgv::daemon {

/// Without the program. `daemon_fd` is the worker's end of the session's channel. What is as the worker has
/// it by itself is left out.
std::vector<std::string> worker_arguments(const Session& session, int daemon_fd, const Config& config);

}  // namespace fairgv::daemon
