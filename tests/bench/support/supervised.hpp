// An experiment that leaves nothing behind, also when it is interrupted or crashes.
#pragma once

#include <functional>

namespace fairgv::bench {

/// Runs `experiment` in a process of its own, whose temporary files have a folder of their own. When it ends,
/// in whatever way, the daemons that still serve a socket in there are stopped, and the folder is removed.
/// SIGINT, SIGTERM and SIGHUP end it early, and then this process as well. Returns its exit status.
///
/// Call it before there are other threads.
int supervised(const std::function<int()>& experiment);

}  // namespace fairgv::bench
