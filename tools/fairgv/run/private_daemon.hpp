// A daemon of the user's own, for machines without a daemon for all users.
#pragma once

#include <string>

#include "runtime/base/result.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {

struct FoundDaemon {
  Control control;
  bool started = false;  // by us, or at the same time by another `fairgv run`
};

/// Makes sure that a daemon answers at `socket`, and returns a control connection to it: starts one in the
/// background if none does. The new daemon ends by itself half a minute after its last connection, so the
/// caller that keeps the connection open keeps the daemon. Several callers at once end up with one daemon.
/// `config` may be empty; naming one while a daemon runs already is an error, because it would have no
/// effect.
Result<FoundDaemon> ensure_daemon(const std::string& socket, const std::string& config);

}  // namespace fairgv::tools
