// Ending all processes of a session in the sense of setsid(2): of a worker that has neither process numbers
// nor a control group of its own, all that descends from it. Its system-call filter keeps them from beginning
// another.
//
// The session's number is that of the worker's process, and cannot be another's as long as that is not waited
// for.
#pragma once

#include <sys/types.h>

namespace fairgv::daemon {

/// Has orphans of workers come to this process when the worker that they came to before has ended, so that
/// they can be waited for where nobody else would.
void receive_orphans();

/// Kills every process of the session but its leader and waits for those that are dead and this process'
/// children. True if none was left that runs. One look at each process of the system.
///
/// First its leader's process group, at once: nobody forks in between. That are all of them where a filter
/// keeps them in it; others are killed one by one.
bool end_process_session(pid_t leader);

}  // namespace fairgv::daemon
