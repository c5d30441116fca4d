// A thread for the few calls that take long (building programs), so that the loop thread never does.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fairgv::vgpu {

/// Runs jobs one after the other, in the order in which they came. Its thread starts with the first job. The
/// destructor waits for the job under way and drops the rest.
class SlowLane {
 public:
  SlowLane() = default;
  ~SlowLane();
  SlowLane(const SlowLane&) = delete;
  SlowLane& operator=(const SlowLane&) = delete;

  void run(std::function<void()> job);

 private:
  void work();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace fairgv::vgpu
