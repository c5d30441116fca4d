// Workers with process numbers of their own (pid_namespaces(7)): the worker is number 1, and all of its
// descendants die with it, before its own end can be seen. There is no way out.
//
// The worker's program is number 1 itself, without a process above it that would wait for orphans: one
// process less that would have to be guarded from it and whose end and numbers would stand for the worker's.
// Two things follow. Orphans that have ended stay as zombies until the worker ends; they count like processes
// that live, against the same limits. And signals whose default action would end it are ignored unless the
// kernel raises them for a fault or the daemon sends SIGKILL: fairgv-vgpu turns abort() into an exit status
// (vgpu/aborts.hpp).
#pragma once

#include <sys/types.h>

#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// Whether this process can start such workers and mount their /proc. Tried once.
bool may_separate_processes();

/// fork(), after which the child has process numbers of its own, or the caller's. 0 in the child. Called from
/// one thread.
Result<pid_t> fork_worker(bool separate);

}  // namespace fairgv::daemon
