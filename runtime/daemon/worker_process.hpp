// A worker's process: starting it with the rights of its user and nothing else, and ending it for certain.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/daemon/user.hpp"
#include "runtime/daemon/worker_cage.hpp"
#include "runtime/ring/handle.hpp"
#include "runtime/ring/result.hpp"

namespace fairgv::daemon {

struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // without the program
  std::vector<int> inherited;          // descriptors that keep their numbers; all others are closed
  int output = -1;                     // its standard output; -1: the same as its standard error
  int channel = -1;                    // inherited socket on which it tells the daemon why it cannot start
  std::filesystem::path vendors;       // OCL_ICD_VENDORS of the worker
  std::optional<User> run_as;          // none: as the daemon itself
  WorkerCage cage;
};

/// The daemon's environment as a worker gets it: no FAIRGV_*, no variables of OpenCL loaders but the vendor
/// folder, the user's own name, and for a HOME the worker's cache, or the user's own where it has none.
std::vector<std::string> worker_environment(char* const* environment, const WorkerCommand& command);

/// A running worker, in its cage. It dies with the daemon (PR_SET_PDEATHSIG). Created and used by one thread,
/// which must live as long as the daemon.
class WorkerProcess {
 public:
  static Result<WorkerProcess> spawn(WorkerCommand command);
  /// A child that the program before this one, in the same process, has spawned.
  static Result<WorkerProcess> adopt(pid_t pid);
  WorkerProcess() = default;  // none
  /// Kills and waits.
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  pid_t pid() const { return pid_; }
  /// Readable when the process has ended.
  int pidfd() const { return pidfd_.get(); }
  void kill();
  /// How it ended, in words. Waits; call it when pidfd() is readable.
  std::string reap();

 private:
  WorkerProcess(pid_t pid, ring::UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_ = -1;
  ring::UniqueFd pidfd_;
};

}  // namespace fairgv::daemon
