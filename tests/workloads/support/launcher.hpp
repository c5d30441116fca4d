#pragma once
// The in-order queue a workload enqueues on, and the policy of when the host waits for it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/workloads/support/cl.hpp"
#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// Work-items in each dimension; the unused ones are 1.
using Range = std::array<std::size_t, 2>;

/// From when to when, in nanoseconds: a launch on the device by the driver's event timestamps, or the host
/// that waits for one by CLOCK_MONOTONIC.
struct Execution {
  cl_ulong start = 0;
  cl_ulong end = 0;
};

class Launcher {
 public:
  explicit Launcher(const Device& device);

  /// Enqueues a kernel; in SyncMode::kEvery waits for it too.
  void launch(const Kernel& kernel, Range global, Range local);

  void copy(const Buffer& from, const Buffer& to, std::size_t bytes);

  template <typename Element>
  void fill(const Buffer& buffer, Element value, std::size_t count) {
    check(clEnqueueFillBuffer(queue(), buffer.get(), &value, sizeof(value), 0, count * sizeof(value), 0,
                              nullptr, nullptr),
          "clEnqueueFillBuffer");
  }

  /// Blocking read of the first `count` elements.
  template <typename Element>
  std::vector<Element> read(const Buffer& buffer, std::size_t count) {
    std::vector<Element> content(count);
    check(clEnqueueReadBuffer(queue(), buffer.get(), CL_TRUE, 0, count * sizeof(Element), content.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
    return content;
  }

  /// Waits for everything enqueued.
  void finish();

  /// A marker behind everything enqueued so far, already flushed to the device.
  Event mark();

  void set_sync_mode(SyncMode mode) { mode_ = mode; }

  /// Kernel launches so far.
  std::uint64_t launches() const { return launches_; }

  /// From here on every kernel is timed, on a queue with profiling; ends with stop_profiling().
  void start_profiling();

  /// Waits, returns the executions of the profiled launches in launch order.
  std::vector<Execution> stop_profiling();

  /// From here on the host's clock is read around every launch that is waited for; ends with stop_timing().
  void start_timing() { timing_ = true; }
  std::vector<Execution> stop_timing();

 private:
  void enqueue(const Kernel& kernel, Range global, Range local);
  cl_command_queue queue() const { return profiling_ ? profiling_queue_.get() : queue_.get(); }

  const Device& device_;
  Queue queue_;
  Queue profiling_queue_;
  bool profiling_ = false;
  std::vector<Event> profiled_launches_;
  bool timing_ = false;
  std::vector<Execution> waits_;
  SyncMode mode_ = SyncMode::kBatch;
  std::uint64_t launches_ = 0;
};

}  // namespace workloads
