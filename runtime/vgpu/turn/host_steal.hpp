// The time that a virtual machine's host has taken from the device's processors, as a witness for stalls.
//
// Linux counts it for each processor (base/processor_ticks.hpp): too coarsely for the loss of one turn, but
// well enough to tell, on the long run, a stall caused by the host from one caused by the driver. On a
// physical machine there is none.
#pragma once

#include <sched.h>

#include <cstdint>

#include "runtime/base/processor_ticks.hpp"
#include "sched/types.hpp"

namespace fairgv::vgpu {

using sched::Duration;

class HostSteal {
 public:
  /// Counts for these processors, from here on. Without the file it finds nothing.
  explicit HostSteal(const cpu_set_t& processors, const char* stat = "/proc/stat");

  /// How much of a stall of this length the host can have caused: the time that it has taken and that earlier
  /// stalls have not used up, and a tick more, since the count is late by up to that. Opens no file, but has
  /// the system write a line per processor: not for every turn.
  Duration explain(Duration stall);

 private:
  std::uint64_t read() const { return stat_.read(processors_).steal; }

  cpu_set_t processors_;
  ProcessorStat stat_;
  std::uint64_t seen_ = 0;   // ticks
  Duration unexplained_{0};  // taken by the host, not yet used up by stalls
};

}  // namespace fairgv::vgpu
