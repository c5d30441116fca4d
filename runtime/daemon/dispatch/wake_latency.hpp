// Processors that wake up soon, while a device is shared.
//
// Where several tenants want a device, a worker, a driver's thread or a program sleeps at every change of
// turns. A processor without work saves power, and takes time to come back: some 50 us in a virtual machine,
// up to 200 us in deep states of a real one, at every change. Linux lets a process limit this time (PM QoS,
// Documentation/admin-guide/pm/cpuidle.rst): a number of microseconds in /dev/cpu_dma_latency, which holds
// for all processors and for as long as the file is open. So the limit ends with the daemon, however the
// daemon ends.
//
// Pure logic beside the file: no clock of its own. Not thread-safe: the dispatch loop's thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/handle.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

class WakeLatency {
 public:
  using Time = sched::Time;

  static constexpr const char* kFile = "/dev/cpu_dma_latency";
  /// How long a limit holds after the last wish, so that it is not taken back and given again at every pause.
  static constexpr std::chrono::milliseconds kHold{100};

  explicit WakeLatency(std::string file = kFile) : file_(std::move(file)) {}

  /// No processor should take longer to wake up, from now on and for kHold. The last wish counts. If the file
  /// cannot be written, the log says so once, and WakeLatency never tries again.
  void want(std::chrono::microseconds limit, Time now);

  /// The time at which end() is to be called, if no wish comes before.
  std::optional<Time> deadline() const;
  /// Takes the limit back if the time has come.
  void end(Time now);

 private:
  bool ask(std::chrono::microseconds limit);

  const std::string file_;
  UniqueFd open_;  // while there is a limit
  std::chrono::microseconds limit_{0};
  Time until_{};
  bool refused_ = false;
};

}  // namespace fairgv::daemon
