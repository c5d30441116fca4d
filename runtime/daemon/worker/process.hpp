// A worker's process: starting it with the rights of its user and nothing else, and ending it for certain,
// with all that descends from it. Three means hold a worker's processes together; each is used where it can
// be had:
//
// - process numbers of their own (process_namespace.hpp): the worker's end is the end of all. Where the cage
//   has mounts of its own.
// - a control group (control_group.hpp), by which they are killed and their processor time is counted.
// - the session in the sense of setsid(2) (process_session.hpp), where neither holds: all processes of the
//   system are looked through. If the daemon dies then, what a worker has started may outlive it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/daemon/cage/cage.hpp"
#include "runtime/daemon/service/user.hpp"
#include "runtime/daemon/worker/control_group.hpp"

namespace fairgv::daemon {

struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // without the program
  std::vector<int> inherited;          // descriptors from 3 on that keep their numbers; all others are closed
  int output = -1;                     // its standard output; -1: the same as its standard error
  int errors = -1;                     // its standard error; -1: the daemon's own
  int channel = -1;                    // inherited socket on which it tells the daemon why it cannot start
  std::filesystem::path vendors;       // OCL_ICD_VENDORS of the worker
  std::optional<User> run_as;          // none: as the daemon itself
  WorkerCage cage;
};

/// The facts about a worker that a new daemon needs to go on with it.
struct HandedWorker {
  pid_t pid = 0;
  bool sweeps = true;        // see WorkerProcess
  int group = -1;            // descriptor of its control group, if it has one
  std::string group_path{};  // of the same
  int program = -1;          // pidfd of a direct program, which is no child; -1: it is a worker
};

/// The exit status of a worker that calls abort() where SIGABRT is ignored; as shells have it.
inline constexpr int kAbortedStatus = 128 + SIGABRT;

/// Why this machine cannot end all of a worker's processes with the worker, as one line for the log at start.
/// Nothing when it can.
std::optional<std::string> ending_weakness(const WorkerRule& rule);

/// The daemon's environment as a worker gets it: no FAIRGV_*, no variables of OpenCL loaders but the vendor
/// folder, the user's own name, and for a HOME the worker's cache, or the user's own where it has none.
std::vector<std::string> worker_environment(char* const* environment, const WorkerCommand& command);

/// A running worker, in its cage. It dies with the daemon (PR_SET_PDEATHSIG). Created and used by one thread,
/// which must live as long as the daemon.
///
/// Or a direct program, which is client and worker in one and no child of the daemon: it can be killed, but
/// is neither waited for nor cleared up after, and goes on when the daemon ends.
class WorkerProcess {
 public:
  /// `group`: that it is started in, if there is one.
  static Result<WorkerProcess> spawn(WorkerCommand command, std::optional<ControlGroup> group = {});
  /// A child that the program before this one, in the same process, has spawned. Takes the descriptor.
  static Result<WorkerProcess> adopt(const HandedWorker& handed);
  /// The program of a direct session. `pidfd`: of the process `pid`.
  static WorkerProcess of_program(pid_t pid, UniqueFd pidfd);
  WorkerProcess() = default;  // none
  /// Kills and waits, but not for ever for a process that cannot be killed.
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  pid_t pid() const { return pid_; }
  /// Whether it is a direct program.
  bool is_program() const { return is_program_; }
  HandedWorker handed() const;
  /// Readable when the process has ended.
  int pidfd() const { return pidfd_.get(); }
  void kill();
  /// Stops a worker by its pidfd(), or lets it go on; any thread. False: it has ended.
  static bool stop(int pidfd, bool stop);
  /// How it ended, in words. Waits; call it when pidfd() is readable.
  std::string ending() const;
  /// When the worker has ended: kills its descendants that are still there. True when nothing is left, and
  /// then this is over; else call it again a little later. Never waits.
  bool clear();
  /// ending(), and then clear() until nothing is left, or for a second. Waits.
  std::string reap();

  /// Of the worker and all that descends from it, dead or alive. Nothing without a control group.
  std::optional<std::chrono::nanoseconds> group_processor_time() const;

 private:
  WorkerProcess(pid_t pid, UniqueFd pidfd, std::optional<ControlGroup> group, bool sweeps)
      : pid_(pid), pidfd_(std::move(pidfd)), group_(std::move(group)), sweeps_(sweeps) {}

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<ControlGroup> group_;
  bool is_program_ = false;  // a direct one, known by its pidfd alone
  bool sweeps_ = false;      // nothing but the session holds its processes together
};

}  // namespace fairgv::daemon
