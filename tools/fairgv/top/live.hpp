// The loop of `fairgv top`: keys, signals, the daemon's answers, and the clock.
#pragma once

#include <string>

#include "runtime/base/result.hpp"
#include "tools/fairgv/top/controller.hpp"

namespace fairgv::tools::top {

/// Shows and steers until it is told to quit, by a key or by SIGINT, SIGTERM or SIGHUP. The terminal is as it
/// was before when this returns. An Error: it could not begin, or the terminal is gone.
Result<void> run_live(const std::string& socket_path, Controller controller);

}  // namespace fairgv::tools::top
