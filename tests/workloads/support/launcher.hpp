#pragma once
// The in-order OpenCL queue a workload enqueues on.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/workloads/support/cl.hpp"
#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launch_queue.hpp"

namespace workloads {

/// Work-items in each dimension; the unused ones are 1.
using Range = std::array<std::size_t, 2>;

class Launcher : public LaunchQueue {
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

  /// Blocking write of `count` elements, from the buffer's element `first` on.
  template <typename Element>
  void write(const Buffer& buffer, std::size_t first, const Element* elements, std::size_t count) {
    check(clEnqueueWriteBuffer(queue(), buffer.get(), CL_TRUE, first * sizeof(Element),
                               count * sizeof(Element), elements, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
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

  void finish() override;
  std::unique_ptr<Mark> mark() override;
  void start_profiling() override;
  std::vector<Execution> stop_profiling() override;

 private:
  void enqueue(const Kernel& kernel, Range global, Range local);
  cl_command_queue queue() const { return profiling_ ? profiling_queue_.get() : queue_.get(); }

  const Device& device_;
  Queue queue_;
  Queue profiling_queue_;
  bool profiling_ = false;
  std::vector<Event> profiled_launches_;
};

}  // namespace workloads
