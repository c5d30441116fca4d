// Ends all processes of a session in the sense of setsid(2): a worker that has neither process numbers nor a
// control group of its own, and its descendants. Its system-call filter keeps them from beginning another.
//
// The session's number is that of the worker's process. No other session can have it as long as the process
// is not waited for.
#pragma once

#include <sys/types.h>

namespace fairgv::daemon {

/// Makes this process the parent of workers' orphans once their worker has ended, so that they are waited
/// for.
void receive_orphans();

/// Kills every process of the session but its leader and waits for those that are dead and this process'
/// children. True if none was left that runs. One look at each process of the system.
///
/// Its leader's process group is killed first, at once, so that no process forks in between. Where a filter
/// keeps the processes in the group, these are all; others are killed one by one.
bool end_process_session(pid_t leader);

}  // namespace fairgv::daemon
