#include "runtime/daemon/worker/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "runtime/base/exec_pointers.hpp"
#include "runtime/daemon/cage/process_namespace.hpp"
#include "runtime/daemon/worker/process_session.hpp"

namespace fairgv::daemon {
namespace {

/// Within it a killed process is dead, if it can be killed at all.
constexpr int kPatienceMs = 1'000;

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (text.starts_with(prefix)) return true;
  }
  return false;
}

/// Everything below runs in the child between fork and exec, where only async-signal-safe calls are allowed:
/// all memory was prepared by the parent.
void reset_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

void join(int group, const StartFailure& failure) {
  if (group >= 0 && ::write(group, "0", 1) != 1) failure.give_up("enter its control group");
}

/// `kept`: in order, from 3 on. All other descriptors are closed first: the files that a worker is shown may
/// lie on a file system that never answers.
void keep_only(const std::vector<int>& kept, const WorkerCommand& command, const StartFailure& failure) {
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) failure.give_up("open /dev/null");
  if (command.errors >= 0 && ::dup2(command.errors, STDERR_FILENO) < 0)
    failure.give_up("redirect its messages");
  // Never the daemon's own, which nobody reads.
  if (::dup2(command.output >= 0 ? command.output : STDERR_FILENO, STDOUT_FILENO) < 0) {
    failure.give_up("redirect its output");
  }
  int next = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (fd > next && ::close_range(static_cast<unsigned>(next), static_cast<unsigned>(fd) - 1, 0) != 0) {
      failure.give_up("close what it must not inherit");
    }
    next = fd + 1;
  }
  if (::close_range(static_cast<unsigned>(next), ~0U, 0) != 0)
    failure.give_up("close what it must not inherit");
  for (const int fd : command.inherited) {
    if (::fcntl(fd, F_SETFD, 0) != 0) failure.give_up("keep what it must inherit");
  }
}

[[noreturn]] void run_worker(WorkerCommand& command, int daemon, int group, const std::vector<int>& kept,
                             char* const* arguments, char* const* environment) {
  const StartFailure failure(command.channel);
  join(group, failure);
  reset_signals();
  keep_only(kept, command, failure);
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
    // Variables for the daemon and its service manager alone.
    if (starts_with_any(variable, {"NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_"})) continue;
    // Variables about the daemon's own user.
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
    // It has a /tmp only where it has mounts.
    if (command.cage.means != ViewMeans::mounts) result.push_back("TMPDIR=" + cache.string());
  }
  return result;
}

std::optional<std::string> ending_weakness(const WorkerRule& rule) {
  if (control_group_folder() && (!rule.private_view || view_means() != ViewMeans::nothing)) {
    return std::nullopt;
  }
  if (rule.private_view && may_separate_processes()) return std::nullopt;
  return "processes that a worker starts are looked for when it ends, since this daemon can make neither "
         "process numbers nor control groups for it: what it has started may outlive this daemon's death "
         "(see "
         "SECURITY.md)";
}

Result<WorkerProcess> WorkerProcess::spawn(WorkerCommand command, std::optional<ControlGroup> group) {
  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), command.program.string());
  std::vector<std::string> environment = worker_environment(environ, command);
  const std::vector<char*> argument_pointers = exec_pointers(arguments);
  const std::vector<char*> environment_pointers = exec_pointers(environment);
  const UniqueFd daemon(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!daemon) return system_error("cannot watch the daemon for a worker");
  const UniqueFd entrance = group ? group->entrance() : UniqueFd();
  if (group && !entrance) return system_error("cannot open " + group->path().string());
  std::vector<int> kept = command.inherited;
  kept.push_back(daemon.get());
  std::sort(kept.begin(), kept.end());
  // A worker that sees the system's files as its user does could move itself out of its control group.
  const bool held = group && command.cage.means != ViewMeans::nothing;
  const bool sweeps = !command.cage.own_processes && !held;
  if (sweeps) receive_orphans();
  FAIRGV_TRY(pid, fork_worker(command.cage.own_processes));
  if (pid.value() == 0) {
    run_worker(command, daemon.get(), entrance.get(), kept, argument_pointers.data(),
               environment_pointers.data());
  }
  // The child cannot be reaped by anybody else, so its number is still its own.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid.value(), 0)));
  WorkerProcess process(pid.value(), std::move(pidfd), std::move(group), sweeps);
  if (!process.pidfd_) return system_error("cannot watch a worker process");
  return process;
}

WorkerProcess WorkerProcess::of_program(pid_t pid, UniqueFd pidfd) {
  WorkerProcess process(pid, std::move(pidfd), {}, false);
  process.is_program_ = true;
  return process;
}

Result<WorkerProcess> WorkerProcess::adopt(const HandedWorker& handed) {
  if (handed.program >= 0) return of_program(handed.pid, UniqueFd(handed.program));
  UniqueFd fd(handed.group);
  std::optional<ControlGroup> group;
  if (fd) {
    // Without the group only its counts are lost, and the processes to end are found another way.
    auto adopted = ControlGroup::adopt(handed.group_path, std::move(fd));
    if (adopted) group = std::move(adopted).value();
  }
  const bool sweeps = handed.sweeps || (handed.group >= 0 && !group);
  if (sweeps) receive_orphans();
  // A child that nobody has waited for keeps its number.
  WorkerProcess process(handed.pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, handed.pid, 0))),
                        std::move(group), sweeps);
  if (!process.pidfd_) return system_error("cannot watch a worker process of the daemon before");
  return process;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ < 0 || is_program_) return;
  kill();
  pollfd end{pidfd_.get(), POLLIN, 0};
  // A process in the midst of a call that never returns cannot be killed, and must not keep its daemon.
  if (!pidfd_ || ::poll(&end, 1, kPatienceMs) == 1) reap();
}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(group_, other.group_);
  std::swap(is_program_, other.is_program_);
  std::swap(sweeps_, other.sweeps_);
  return *this;
}

HandedWorker WorkerProcess::handed() const {
  if (is_program_) return {.pid = pid_, .sweeps = false, .program = pidfd_.get()};
  return {pid_, sweeps_, group_ ? group_->fd() : -1, group_ ? group_->path().string() : std::string()};
}

void WorkerProcess::kill() {
  if (pid_ <= 0) return;
  if (is_program_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    return;
  }
  ::kill(pid_, SIGKILL);
  if (group_) group_->kill();
}

bool WorkerProcess::stop(int pidfd, bool stop) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, stop ? SIGSTOP : SIGCONT, nullptr, 0) == 0;
}

std::string WorkerProcess::ending() const {
  if (pid_ < 0 || is_program_) return "ended";
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const bool exited = end.si_code == CLD_EXITED;
  if (exited && end.si_status != kAbortedStatus) return "ended with status " + std::to_string(end.si_status);
  const int signal = exited ? SIGABRT : end.si_status;
  const char* const words = ::sigdescr_np(signal);
  return "was killed by signal " + std::to_string(signal) + " (" + (words == nullptr ? "?" : words) + ")";
}

bool WorkerProcess::clear() {
  if (pid_ < 0) return true;
  if (is_program_) {
    pid_ = -1;
    return true;
  }
  if (group_) group_->kill();
  if (sweeps_ && !end_process_session(pid_)) return false;
  if (group_ && !group_->remove()) return false;
  // Only now: until then no other process gets its number, which is also its session's.
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return true;
}

std::string WorkerProcess::reap() {
  constexpr int kLookMs = 5;
  std::string how = ending();
  for (int left = kPatienceMs / kLookMs; !clear() && left > 0; --left) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
  }
  return how;
}

std::optional<std::chrono::nanoseconds> WorkerProcess::group_processor_time() const {
  return group_ ? group_->processor_time() : std::nullopt;
}

}  // namespace fairgv::daemon
