// Rights that a process gives up by itself, without privileges: Landlock (Linux, landlock.rst).
//
// Whichever rights are given up, no process outside can be traced any more. /proc/PID/root and its like need
// the same right: mounts alone would leave a way out through another process of the same user.
//
// As a view of the file system, where the daemon may not mount, it is weaker than mounts: names and
// attributes of other files can still be asked for, and Unix sockets with a path be connected to.
#pragma once

#include "runtime/daemon/cage/failure.hpp"
#include "runtime/daemon/cage/view.hpp"

namespace fairgv::daemon {

/// The kernel's version of Landlock; 0: it has none that can be used (version 2 or later).
int landlock_version();

/// No process outside can be traced. From version 6 on also signals and abstract Unix sockets are the
/// caller's own and its children's, for good. It must have no_new_privs. Async-signal-safe.
void keep_off_others(const StartFailure& failure);

/// The same, and no path can be opened but those of the view.
void confine_to(const WorkerView& view, const StartFailure& failure);

}  // namespace fairgv::daemon
