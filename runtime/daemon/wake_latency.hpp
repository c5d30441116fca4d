// Processors that wake up soon, when a device changes hands.
//
// Where several tenants want a device, somebody sleeps at every change of turns: a worker, a driver's thread,
// a program. A processor without work saves power, and takes its time to come back: some 50 us in a virtual
// machine, up to 200 us in deep states of a real one, at every one of them. Linux lets a process say how long
// that may take (PM QoS, Documentation/admin-guide/pm/cpuidle.rst): a number of microseconds in
// /dev/cpu_dma_latency, which holds for all processors and for as long as the file is open. So it ends with
// the daemon, however that ends.
//
// A processor that is kept awake costs power and, where it shares a core with one that works, time: on our
// virtual machine, in the hours when its processors do, kernels of hotspot took 214 us beside one that polls,
// and 130 beside one that halts. So the limit holds around changes only, not in the middle of turns.
//
// Pure logic beside the file: no clock of its own. Not thread-safe: the dispatch loop's thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/ring/handle.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

class WakeLatency {
 public:
  using Time = sched::Time;

  static constexpr const char* kFile = "/dev/cpu_dma_latency";
  /// How long a limit holds when it is not wanted any more: until those have woken up to whom a turn was
  /// given.
  static constexpr std::chrono::microseconds kHold{250};

  explicit WakeLatency(std::string file = kFile) : file_(std::move(file)) {}

  /// Nobody should take longer to wake up, from now on. The last wish counts. A file that cannot be written
  /// is said once, in the log, and never tried again.
  void want(std::chrono::microseconds limit);
  /// It is not wanted any more: takes it back kHold after the first such word.
  void leave(Time now);
  /// When leave() wants to be called once more.
  std::optional<Time> deadline() const { return until_; }
  /// Takes it back now.
  void end();

 private:
  bool ask(std::chrono::microseconds limit);

  const std::string file_;
  ring::UniqueFd open_;  // while there is a limit
  std::chrono::microseconds limit_{0};
  std::optional<Time> until_{};  // not wanted any more, but there until then
  bool refused_ = false;
};

}  // namespace fairgv::daemon
