#include "runtime/daemon/worker_process.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <string_view>

namespace fairgv::daemon {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (text.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Everything below runs in the child between fork and exec, where only async-signal-safe calls are allowed:
/// all memory was prepared by the parent.
void reset_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

void keep_only(const std::vector<int>& inherited, int output, const StartFailure& failure) {
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) failure.give_up("open /dev/null");
  // Never the daemon's own, which nobody reads.
  if (::dup2(output >= 0 ? output : STDERR_FILENO, STDOUT_FILENO) < 0) failure.give_up("redirect its output");
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) failure.give_up("close what it must not inherit");
  for (const int fd : inherited) {
    if (::fcntl(fd, F_SETFD, 0) != 0) failure.give_up("keep what it must inherit");
  }
}

[[noreturn]] void run_worker(WorkerCommand& command, pid_t daemon, char* const* arguments,
                             char* const* environment) {
  const StartFailure failure(command.channel);
  reset_signals();
  keep_only(command.inherited, command.output, failure);
  enter_cage(command.cage, command.run_as, daemon, failure);
  ::execve(command.program.c_str(), arguments, environment);
  failure.give_up("start its program", command.program.c_str());
}

}  // namespace

std::vector<std::string> worker_environment(char* const* environment, const WorkerCommand& command) {
  std::vector<std::string> result{"OCL_ICD_VENDORS=" + command.vendors.string()};
  const std::filesystem::path& cache = command.cage.cache;
  for (char* const* each = environment; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    if (starts_with_any(variable, {"FAIRGV_", "OCL_ICD_", "OPENCL_", "OPEN_CL_"})) continue;
    // What the daemon and its service manager have to say to each other.
    if (starts_with_any(variable, {"NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_"})) continue;
    // Where the daemon's own user keeps things.
    if (command.run_as && starts_with_any(variable, {"USER=", "LOGNAME="})) continue;
    if ((command.run_as || !cache.empty()) && starts_with_any(variable, {"HOME=", "XDG_", "PWD="})) continue;
    if (!cache.empty() && starts_with_any(variable, {"TMPDIR="})) continue;
    result.emplace_back(variable);
  }
  if (command.run_as) {
    result.push_back("USER=" + command.run_as->name);
    result.push_back("LOGNAME=" + command.run_as->name);
    if (cache.empty()) result.push_back("HOME=" + command.run_as->home);
  }
  if (!cache.empty()) {
    result.push_back("HOME=" + cache.string());
    result.push_back("XDG_CACHE_HOME=" + cache.string());
    // Only where it mounts has it a /tmp.
    if (command.cage.means != ViewMeans::mounts) result.push_back("TMPDIR=" + cache.string());
  }
  return result;
}

Result<WorkerProcess> WorkerProcess::spawn(WorkerCommand command) {
  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), command.program.string());
  std::vector<std::string> environment = worker_environment(environ, command);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const pid_t daemon = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("cannot start a worker process");
  if (pid == 0) run_worker(command, daemon, argument_pointers.data(), environment_pointers.data());
  // The child cannot be reaped by anybody else, so its number is still its own.
  ring::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  WorkerProcess process(pid, std::move(pidfd));
  if (!process.pidfd_) return system_error("cannot watch a worker process");
  return process;
}

Result<WorkerProcess> WorkerProcess::adopt(pid_t pid) {
  // A child that nobody has waited for keeps its number.
  WorkerProcess process(pid, ring::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  if (!process.pidfd_) return system_error("cannot watch a worker process of the daemon before");
  return process;
}

WorkerProcess::~WorkerProcess() {
  kill();
  reap();
}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

void WorkerProcess::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string WorkerProcess::reap() {
  if (pid_ < 0) return "ended";
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* const words = ::sigdescr_np(signal);
    return "was killed by signal " + std::to_string(signal) + " (" + (words == nullptr ? "?" : words) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace fairgv::daemon
