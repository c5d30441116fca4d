#include "runtime/daemon/worker/process_session.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/base/handle.hpp"
#include "runtime/daemon/worker/process_stat.hpp"

namespace fairgv::daemon {
namespace {

/// True if the process is of the session and may still run.
bool end_if_of(pid_t leader, const std::string& name) {
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || rest != name.data() + name.size() || pid == leader) return false;
  if (const auto seen = process_stat(name); !seen || seen->session != leader) return false;
  // Opened before it is checked once more, so that this process is killed, and not another with its number.
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto stat = process_stat(name);
  if (!process || !stat || stat->session != leader) return false;
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  if (stat->parent == ::getpid() && ::waitpid(pid, nullptr, WNOHANG) == pid) return false;
  return stat->runs;  // a zombie is its parent's affair
}

}  // namespace

void receive_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool end_process_session(pid_t leader) {
  ::kill(-leader, SIGKILL);
  bool none = true;
  std::error_code error;
  std::filesystem::directory_iterator processes("/proc", error);
  for (; !error && processes != std::filesystem::directory_iterator(); processes.increment(error)) {
    if (end_if_of(leader, processes->path().filename())) none = false;
  }
  return none && !error;
}

}  // namespace fairgv::daemon
