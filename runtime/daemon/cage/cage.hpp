// The cage of a worker: everything that keeps the code which runs in it away from the rest of the machine
// (docs/SECURITY.md). Planned by the daemon, entered by the child between fork and exec, so that it holds for
// any program, and before any of the program's code runs.
#pragma once

#include <optional>

#include "runtime/base/result.hpp"
#include "runtime/daemon/cage/failure.hpp"
#include "runtime/daemon/cage/rights.hpp"
#include "runtime/daemon/cage/syscalls.hpp"
#include "runtime/daemon/cage/view.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {

struct WorkerCage {
  WorkerLimits limits;
  ViewMeans means = ViewMeans::nothing;  // by which `view` is made
  bool own_processes = false;  // with process numbers and a /proc of its own (process_namespace.hpp)
  WorkerView view;
  std::filesystem::path cache;  // writable, the worker's HOME; empty: the user's own
  std::optional<SyscallFilter> filter;
};

/// The places of a session's worker, beside those of the configuration.
struct WorkerPlace {
  std::filesystem::path program;     // the worker's
  std::filesystem::path vendors;     // its OCL_ICD_VENDORS
  std::vector<std::string> drivers;  // that those name
  std::optional<User> run_as;        // none: the daemon's own user
};

/// The cage that the configuration asks for. An Error if it cannot be had on this machine.
Result<WorkerCage> plan_cage(const WorkerRule& rule, const std::string& system_vendors,
                             const WorkerPlace& place);

/// The parts of the rule that this machine cannot enforce, and the consequences, as one line for the log at
/// start. Nothing when all is well.
std::optional<std::string> cage_weakness(const WorkerRule& rule);

/// Takes the calling process into the cage. `daemon`: a pidfd of its parent. Async-signal-safe; ends the
/// process if any part of the cage fails: a weaker one is not offered.
void enter_cage(WorkerCage& cage, const std::optional<User>& run_as, int daemon, const StartFailure& failure);

}  // namespace fairgv::daemon
