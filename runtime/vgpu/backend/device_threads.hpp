// The threads with which a driver runs a CPU device: finds them, and gives each a core.
//
// A driver starts one thread for every core, and the system decides where they run. Linux wakes two of them
// on the same core now and then, mostly at the beginning of a turn, and the launch takes twice as long
// (docs/results/scheduler.md). All tenants lose by it, and tenants with few commands lose most.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <span>
#include <utility>
#include <vector>

namespace fairgv::vgpu {

/// The threads of this process, the oldest first.
std::vector<pid_t> own_threads();

/// Each thread on a core of its own from now on, the first on the lowest, if there are as many threads as
/// `cores`; otherwise the threads stay as they are: the driver has reasons that are not known here. True if
/// each thread got its core. A core taken away from this process meanwhile (cpuset(7)) makes it false.
bool give_each_a_core(std::span<const pid_t> threads, const cpu_set_t& cores);

/// Threads that leave their cores to others for a while.
class AwayFromCores {
 public:
  /// `others`: where they go meanwhile.
  AwayFromCores(std::vector<pid_t> threads, const cpu_set_t& others)
      : threads_(std::move(threads)), others_(others) {}

  void leave();
  /// Brings each thread back to where it was, if it has left.
  void come_back();

 private:
  struct Moved {
    pid_t thread;
    cpu_set_t cores;
  };

  const std::vector<pid_t> threads_;
  const cpu_set_t others_;
  std::vector<Moved> moved_;
};

}  // namespace fairgv::vgpu
