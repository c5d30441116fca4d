// The processor time of a worker and the processes that it has started, by the kernel's clocks: nothing that
// these processes write changes it.
//
// Read now and then by the server's thread; a reading takes some microseconds for each thread of the worker.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace fairgv::daemon {

/// Of one process and all its threads, in its life; nothing if it has been reaped. One system call; any
/// thread.
std::optional<std::chrono::nanoseconds> processor_time(pid_t process);

class ProcessorClock {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Further descendants are not looked at; the control group, where there is one, has all.
  static constexpr std::size_t kMostProcesses = 4'096;

  explicit ProcessorClock(pid_t worker) : worker_(worker) {}

  /// In its life; never goes down. Nothing if the worker has been reaped. A process that has ended counts as
  /// far as it was seen, or as somebody has waited for it.
  std::optional<Duration> read();

 private:
  pid_t worker_;
  Duration highest_{0};
  Duration gone_{0};  // of processes that ended without having been waited for, as they were seen last
};

}  // namespace fairgv::daemon
