// The command line of a session's worker: what `fairgv-vgpu --help` lists.
#pragma once

#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/session.hpp"

namespace fairgv::daemon {

/// The worker's ends of the session's sockets.
struct WorkerEnds {
  int channel = -1;
  int ledger = -1;
};

/// Without the program. What is as the worker has it by itself is left out. `cuda_drivers`: of a session that
/// speaks CUDA.
std::vector<std::string> worker_arguments(const Session& session, const WorkerEnds& ends,
                                          const Config& config,
                                          const std::vector<std::string>& cuda_drivers = {});

}  // namespace fairgv::daemon
