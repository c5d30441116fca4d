// A worker's view of the file system as mounts of its own, beside which nothing of the system's is left; and
// network and System V IPC of its own, in which there is nothing.
#pragma once

#include "runtime/daemon/user.hpp"
#include "runtime/daemon/worker_cage_failure.hpp"
#include "runtime/daemon/worker_view.hpp"

namespace fairgv::daemon {

/// Needs CAP_SYS_ADMIN. Folders of kind `programs` are looked for with the rights of `user`, if any. Ends in
/// the new root folder. For the child of a fork: async-signal-safe.
void enter_view(const WorkerView& view, const User* user, pid_t program, const StartFailure& failure);

/// Whether the session's program has the folder `fd` at this path, too.
bool program_has(int fd, const char* path, pid_t program);

}  // namespace fairgv::daemon
