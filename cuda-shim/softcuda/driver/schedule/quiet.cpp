// Moments in which nothing runs on the device.
#include <algorithm>

#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {

/// With the lock, which is released while it is quiet: the thread is about to touch the device's memory.
void Scheduler::enter(std::unique_lock<std::mutex>& guard) {
  quiet_changed_.wait(guard, [this] { return !is_quiet_; });
  ++at_work_;
}

/// With the lock.
void Scheduler::leave() {
  --at_work_;
  if (is_quiet_) quiet_changed_.notify_all();
}

/// With the lock.
bool Scheduler::is_at_rest(std::span<const std::shared_ptr<StreamGroup>> groups) const {
  // A held launch is the last of its stream.
  const auto rests = [](const std::shared_ptr<Stream>& stream) {
    return stream->begun_ == 0 || (stream->begun_ == 1 && stream->last_ && stream->last_->is_held());
  };
  return at_work_ == 0 && std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
           return rests(group->legacy_) && std::all_of(group->streams_.begin(), group->streams_.end(), rests);
         });
}

void Scheduler::quietly(std::span<const std::shared_ptr<StreamGroup>> groups,
                        const std::function<void()>& function) {
  std::unique_lock guard(lock_);
  quiet_changed_.wait(guard, [this] { return !is_quiet_; });
  is_quiet_ = true;
  quiet_changed_.wait(guard, [&] { return is_at_rest(groups); });
  guard.unlock();
  function();
  guard.lock();
  is_quiet_ = false;
  quiet_changed_.notify_all();
  runnable_changed_.notify_all();
}

}  // namespace fairgv::cuda::soft
