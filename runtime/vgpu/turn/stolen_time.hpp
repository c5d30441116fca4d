// The time for which others kept the threads of a CPU device from their cores.
//
// A turn is charged from its first issue to its last completion. Where the device is the host's own CPU, some
// of that time may have gone to a foreign process, and the session that has the turn just then should not
// pay. Linux counts, for each thread, how long it was ready to run and did not
// (/proc/PID/task/TID/schedstat). From that we subtract what waking up takes anyway. The rest, averaged over
// the device's threads, was stolen; but no more than the time in which the threads did not run. A wait is
// counted when it ends, though it may have begun long before, in somebody else's turn.
//
// The host of a virtual machine steals, too, some milliseconds at a time, and no thread counts that: its time
// just passes. While commands are under way and nothing of the worker has run or waited for a core, the
// device has stalled; that counts as stolen as far as the system says that its host took processors away
// (HostSteal). A stall of the driver's own making, say a wait for a file, is not excused.
//
// Reading the threads takes some 12 us. A turn's end is not read where the threads ran all the time that
// commands were under way, since nothing can have been stolen then.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/vgpu/turn/host_steal.hpp"
#include "sched/types.hpp"

namespace fairgv::vgpu {

using sched::Duration;

class StolenTime {
 public:
  /// Of more threads than that, the first stand for all: reading one takes some microseconds.
  static constexpr std::size_t kMostWatched = 8;
  /// A wait shorter than that is the way from a wake-up to the core, not theft.
  static constexpr Duration kWakeUp = std::chrono::microseconds(50);
  /// Shorter stalls are not worth asking about the host.
  static constexpr Duration kLeastStall = std::chrono::microseconds(300);

  /// The system's counters at one moment.
  struct Reading {
    Duration waited{0};          // of all watched threads, ready but not running
    std::uint64_t arrivals = 0;  // how often one of them got a core
    Duration ran{0};             // of all watched threads
    Duration at{0};              // by the clock
    Duration worker{0};          // processor time of all threads of this process
  };

  /// `threads`: the device's, of this process. `host`: of the device's processors.
  StolenTime(std::span<const pid_t> threads, HostSteal host);

  /// Call it when no command is under way before restart(). It does the slow part of restart()'s reading,
  /// some 10 us: how long the threads have waited does not change until then.
  void rest();
  /// Counts stolen time from here on; at first, from the beginning. `rested`: no command was under way since
  /// rest().
  void restart(bool rested = false);
  /// `unused`: for how long no command was under way meanwhile. Zero without threads, or where the system
  /// does not count. May go back a little: clocks are not read at once.
  Duration so_far(Duration unused);

  /// Whether between two readings each of `threads` threads ran all the time but for a wake-up, as long as a
  /// command was under way. Then nothing can have been stolen. Of the readings only `ran` and `at` count.
  static bool ran_throughout(const Reading& before, const Reading& after, Duration unused,
                             std::size_t threads);
  /// The time that was stolen from each of `threads` threads between two readings.
  static Duration between(const Reading& before, const Reading& after, std::size_t threads);
  /// For how long commands were under way between two readings, and the worker neither ran nor waited for a
  /// core.
  static Duration stalled(const Reading& before, const Reading& after, Duration unused);

 private:
  void read_running(Reading& reading) const;
  void read_waiting(Reading& reading) const;
  void read_others(Reading& reading) const;

  struct Thread {
    UniqueFd counter;
    clockid_t clock;
  };

  std::vector<Thread> threads_;
  HostSteal host_;
  Reading from_;
  Duration by_host_{0};  // since then
};

}  // namespace fairgv::vgpu
