#include "runtime/daemon/cage/process_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "runtime/base/handle.hpp"
#include "runtime/daemon/cage/rights.hpp"

namespace fairgv::daemon {
namespace {

int wait_for_status(pid_t child) {
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// In a process that is alone: a container may forbid the one or the other.
int try_to_separate() {
  if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) return 1;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 1;
  const pid_t first = ::fork();
  if (first == 0) {
    ::_exit(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0 ? 0 : 1);
  }
  return wait_for_status(first);
}

bool can_separate() {
  if (!may_mount()) return false;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(try_to_separate());
  return wait_for_status(child) == 0;
}

}  // namespace

bool may_separate_processes() {
  static const bool may = can_separate();
  return may;
}

Result<pid_t> fork_worker(bool separate) {
  // fork() and not clone(): it leaves the C library, and sanitizers, in a state that they know.
  if (!separate) {
    const pid_t pid = ::fork();
    if (pid < 0) return system_error("cannot start a worker process");
    return pid;
  }
  const UniqueFd home(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!home || ::unshare(CLONE_NEWPID) != 0) return system_error("cannot make process numbers for a worker");
  const pid_t pid = ::fork();
  if (pid == 0) return pid;
  const int code = errno;
  // Else the next worker would share this one's process numbers. unshare() refuses that by itself.
  if (::setns(home.get(), CLONE_NEWPID) != 0) {
    const Error error = system_error("cannot return from a worker's process numbers");
    if (pid > 0) ::kill(pid, SIGKILL);
    static_cast<void>(wait_for_status(pid));
    return error;
  }
  if (pid < 0) return system_error("cannot start a worker process", code);
  return pid;
}

}  // namespace fairgv::daemon
