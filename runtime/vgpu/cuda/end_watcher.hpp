// Learns from the driver's events when commands have ended, on a thread of its own.
//
// A callback in the stream tells of an end, too, but the next command of the stream waits until the callback
// has returned, and a driver's thread has to wake up for it: after kernels of 20 us that takes 10, after
// kernels of 1 ms it takes 100 (docs/results/gpu.md). An event holds up nothing, and the watcher looks at it.
// Where a module may print, the watcher also waits for an end that has come, because NVIDIA's driver prints
// only then.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/vgpu/cuda/driver.hpp"

namespace fairgv::vgpu::cuda {

struct Stream;

/// Looks without a pause while anything is watched that may last for a turn, and for a moment after that, or
/// else from time to time; costs nothing while nothing is watched. Events are kept by their streams for the
/// next time.
class EndWatcher {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// Looks without a pause for so long after the last end, then from time to time.
  explicit EndWatcher(const Functions& driver, Duration eager = usual_eagerness());
  /// Ends that were not reported by then never are. The streams that are watched are still there.
  ~EndWatcher();
  EndWatcher(const EndWatcher&) = delete;
  EndWatcher& operator=(const EndWatcher&) = delete;

  /// Has `callback` called with `subject`, once all that the stream has been given by now has ended, or with
  /// the driver's error when it has failed: on the watcher's thread, in the stream's order, perhaps before
  /// this returns. The loop thread's. The stream must be there until then. An error: it will not be called.
  CUresult watch(Stream& stream, CUstreamCallback callback, void* subject);

 private:
  struct End {
    Stream* stream = nullptr;
    CUevent event = nullptr;
    CUstreamCallback callback = nullptr;
    void* subject = nullptr;
    bool prints = false;  // there may be something to print before that
  };
  /// The ends that are watched for on one stream, in its order.
  struct Line {
    Stream* stream = nullptr;
    std::deque<End> ends;
  };

  // The watcher's thread.
  void run();
  bool take_given();
  bool look();
  bool look_at(Line& line);
  CUresult print(const End& end);
  void sleep();

  /// Zero where such a thread would keep the thread that waits for it from its CPU.
  static Duration usual_eagerness();

  const Functions& driver_;
  const Duration eager_;
  std::vector<Line> lines_;  // the watcher's thread's; none is empty between two looks

  std::atomic<bool> is_given_{false};  // a hint: written with the mutex held, relaxed
  std::mutex mutex_;                   // guards what follows, and Stream::spare_ends
  std::condition_variable changed_;
  std::vector<End> given_;
  bool is_asleep_ = false;
  std::atomic<bool> stopping_{false};  // relaxed: nothing is published with it

  std::thread thread_;
};

}  // namespace fairgv::vgpu::cuda
