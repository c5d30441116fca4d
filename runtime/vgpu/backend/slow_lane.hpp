// A thread for the few calls that take long (building programs), so that the loop thread never takes long.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace fairgv::vgpu {

/// Runs jobs one after the other, in the order in which they came. Its thread starts with the first job. The
/// destructor waits for the job under way and drops the rest.
class SlowLane {
 public:
  /// `at_work` is told when a job begins and when it has ended, on the thread that runs it.
  explicit SlowLane(std::function<void(bool)> at_work = {}) : at_work_(std::move(at_work)) {}
  ~SlowLane();
  SlowLane(const SlowLane&) = delete;
  SlowLane& operator=(const SlowLane&) = delete;

  void run(std::function<void()> job);
  /// Whether no job waits or is under way.
  bool idle() const;
  void wait_until_idle() const;

 private:
  void work();

  const std::function<void(bool)> at_work_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable changed_;
  bool works_ = false;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace fairgv::vgpu
