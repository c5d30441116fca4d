#include "tests/bench/support/supervised.hpp"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/harness/child.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {
namespace {

/// Never returns, so that the folder stays its parent's to remove.
[[noreturn]] void experiment_here(const std::function<int()>& experiment, const std::filesystem::path& folder,
                                  pid_t parent, const sigset_t& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  ::setenv("TMPDIR", folder.c_str(), 1);
  ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  std::exit(experiment());
}

/// How `child` ended (waitpid(2)), to which every one of `signals` that comes meanwhile is passed on.
int end_of(pid_t child, const sigset_t& signals) {
  for (int status = 0;;) {
    const int signal = ::sigwaitinfo(&signals, nullptr);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
    if (::waitpid(child, &status, WNOHANG) == child) return status;
  }
}

void stop_daemons_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string socket = entry.path() / "fairgvd.sock";
    if (!std::filesystem::exists(socket, ignored)) continue;
    static_cast<void>(harness::run({{harness::beside("fairgv"), "stop", "--socket", socket}, {}}));
  }
}

}  // namespace

int supervised(const std::function<int()>& experiment) {
  auto made = harness::TemporaryFolder::make();
  if (!made) {
    fmt::print(stderr, "fairgv bench: {}\n", made.error().message);
    return 1;
  }
  int status = 0;
  sigset_t before;
  {
    const harness::TemporaryFolder folder = std::move(made).value();
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) experiment_here(experiment, folder.path(), parent, before);
    if (child < 0) {
      fmt::print(stderr, "fairgv bench: cannot start a process for the experiment\n");
      return 1;
    }
    status = end_of(child, signals);
    stop_daemons_in(folder.path());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  // This process ends by the same signal: a shell that runs a script then ends the script, too.
  std::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

}  // namespace fairgv::bench
