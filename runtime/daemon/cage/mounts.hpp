// A worker's view of the file system as mounts of its own, beside which nothing of the system's is left; and
// network and System V IPC of its own, in which there is nothing.
#pragma once

#include "runtime/daemon/cage/failure.hpp"
#include "runtime/daemon/cage/view.hpp"

namespace fairgv::daemon {

/// Needs CAP_SYS_ADMIN. Ends in the new root folder. For the child of a fork: async-signal-safe.
void enter_view(const WorkerView& view, const StartFailure& failure);

}  // namespace fairgv::daemon
