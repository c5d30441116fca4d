// The output of kernels: the worker's driver writes it to the worker's standard output, which is a pipe. This
// process copies it to its own standard output, whatever that is at the time.
//
// A driver writes before it reports the command as complete. So a thread that learns that a command has ended
// calls drain() first, and the output is where it would be without FairGV: before anything that the program
// prints afterwards.
//
// Any thread may call any method.
#pragma once

#include <atomic>
#include <mutex>

#include "runtime/base/handle.hpp"

namespace fairgv::session {

class KernelOutput {
 public:
  /// The non-blocking read end of the pipe, or nothing when the daemon has none to give.
  explicit KernelOutput(UniqueFd pipe) : pipe_(std::move(pipe)) {}

  /// From now on kernels may print: drain() looks at the pipe.
  void expect() { expected_.store(true, std::memory_order_relaxed); }

  /// Copies the output that has arrived to standard output. As long as nothing is expected it costs one load.
  void drain() {
    // Relaxed: the thread that built a printing program, or was told of it, enqueues its kernels afterwards.
    if (expected_.load(std::memory_order_relaxed)) [[unlikely]]
      copy();
  }

  /// The same, expected or not. False once the pipe has ended.
  bool copy();

  /// In the child of a fork, which has no part in the parent's output.
  void disown_in_child() { pipe_.reset(); }

  /// To poll for output; -1 without a pipe.
  int fd() const { return pipe_.get(); }

 private:
  UniqueFd pipe_;
  std::atomic<bool> expected_{false};
  std::mutex mutex_;  // one reader at a time, so that the output stays in order
};

}  // namespace fairgv::session
