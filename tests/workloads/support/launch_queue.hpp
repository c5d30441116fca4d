#pragma once
// The measurement's view of the in-order queue on which a workload launches its kernels, whatever its API:
// when the host waits, how many launches there were, and how long they took.

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// An interval in nanoseconds: a launch on the device by the driver's own timestamps, or the host's wait for
/// one by CLOCK_MONOTONIC.
struct Execution {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// A place in a queue that can be waited for.
class Mark {
 public:
  virtual ~Mark() = default;
  /// Returns when all that was enqueued before the mark has completed.
  virtual void wait() = 0;
};

class LaunchQueue {
 public:
  virtual ~LaunchQueue() = default;

  /// Waits for everything enqueued.
  virtual void finish() = 0;

  /// Behind everything enqueued so far, already on its way to the device.
  virtual std::unique_ptr<Mark> mark() = 0;

  /// From here on every kernel is timed on the device; ends with stop_profiling().
  virtual void start_profiling() = 0;

  /// Waits, returns the executions of the profiled launches in launch order.
  virtual std::vector<Execution> stop_profiling() = 0;

  void set_sync_mode(SyncMode mode) { mode_ = mode; }

  /// Kernel launches so far.
  std::uint64_t launches() const { return launches_; }

  /// From here on the host's clock is read around every launch that is waited for; ends with stop_timing().
  void start_timing() { timing_ = true; }
  std::vector<Execution> stop_timing() {
    timing_ = false;
    return std::exchange(waits_, {});
  }

 protected:
  /// Counts one launch, which `enqueue` does; in SyncMode::kEvery waits for it too.
  template <typename Enqueue>
  void count_launch(const Enqueue& enqueue) {
    const std::uint64_t start = timing_ ? host_nanoseconds() : 0;
    enqueue();
    ++launches_;
    if (mode_ != SyncMode::kEvery) return;
    finish();
    if (timing_) waits_.push_back({start, host_nanoseconds()});
  }

 private:
  // On Linux this is CLOCK_MONOTONIC.
  static std::uint64_t host_nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  }

  bool timing_ = false;
  std::vector<Execution> waits_;
  SyncMode mode_ = SyncMode::kBatch;
  std::uint64_t launches_ = 0;
};

}  // namespace workloads
