#include "runtime/vgpu/backend/slow_lane.hpp"

#include <utility>

namespace fairgv::vgpu {

SlowLane::~SlowLane() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SlowLane::run(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

void SlowLane::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    works_ = true;
    lock.unlock();
    if (at_work_) at_work_(true);
    job();
    if (at_work_) at_work_(false);
    lock.lock();
    works_ = false;
    changed_.notify_all();
  }
}

bool SlowLane::idle() const {
  const std::lock_guard lock(mutex_);
  return jobs_.empty() && !works_;
}

void SlowLane::wait_until_idle() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() && !works_; });
}

}  // namespace fairgv::vgpu
