#include "tests/moves/executor/late_events.hpp"

namespace fairgv::moves {

LateEvents::~LateEvents() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LateEvents::set(cl_event event, cl_int status, std::chrono::microseconds after) {
  clRetainEvent(event);
  {
    const std::lock_guard lock(mutex_);
    due_.emplace(std::chrono::steady_clock::now() + after, Late{event, status});
  }
  changed_.notify_one();
}

void LateEvents::run() {
  std::unique_lock lock(mutex_);
  while (!closing_ || !due_.empty()) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = due_.begin();
    if (first->first > std::chrono::steady_clock::now()) {
      const auto until = first->first;
      changed_.wait_until(lock, until);
      continue;
    }
    const Late late = first->second;
    due_.erase(first);
    lock.unlock();
    clSetUserEventStatus(late.event, late.status);
    clReleaseEvent(late.event);
    lock.lock();
  }
}

}  // namespace fairgv::moves
