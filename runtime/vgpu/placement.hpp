// The processors on which a worker's threads, and those of a CPU device, run; and the consequences for
// measuring turns.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/worker_options.hpp"
#include "runtime/vgpu/backend/back_end.hpp"
#include "runtime/vgpu/backend/device_threads.hpp"
#include "runtime/vgpu/issue/settings.hpp"
#include "runtime/vgpu/turn/stolen_time.hpp"
#include "runtime/vgpu/worker.hpp"

namespace fairgv::vgpu {

/// Opens the program's back end, its threads on the cores that were given for them and the calling thread on
/// the others. Threads inherit the cores of the thread that starts them, and drivers of CPU devices start
/// theirs when they are opened.
Result<std::unique_ptr<BackEnd>> open_on_device_cores(const session::WorkerOptions& options);

class Placement {
 public:
  /// Of a back end that was just opened, on the thread that did.
  static Result<Placement> find(const BackEnd& back_end, const std::string& device_cores);

  Processors commands_run_on() const { return commands_run_on_; }
  bool apart() const { return commands_run_on_ != Processors::our_cpus; }

  /// Tells the settings what turns and compilers need to know of the placement. The placement outlives the
  /// executor, and stays where it is.
  void configure(IssueSettings& settings);

 private:
  Placement(const std::vector<pid_t>& threads, const cpu_set_t& processors, Processors commands_run_on,
            bool one_cpu_device);

  Processors commands_run_on_;
  bool one_cpu_device_;
  std::unique_ptr<StolenTime> stolen_;
  std::optional<AwayFromCores> compilers_;  // off the kernels' cores, which others use meanwhile
};

}  // namespace fairgv::vgpu
