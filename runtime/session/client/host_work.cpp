#include "runtime/session/client/host_work.hpp"

namespace fairgv::session {

void HostWork::begins() {
  const std::lock_guard lock(mutex_);
  ++open_;
}

void HostWork::ended() {
  {
    const std::lock_guard lock(mutex_);
    --open_;
    ++done_;
  }
  changed_.notify_all();
}

bool HostWork::any() {
  const std::lock_guard lock(mutex_);
  return open_ != 0;
}

HostWork::Wait::Wait(HostWork& work) : work_(work) {
  const std::lock_guard lock(work_.mutex_);
  seen_ = work_.done_;
}

bool HostWork::Wait::any_ends() {
  const auto now = std::chrono::steady_clock::now();
  if (until_ == std::chrono::steady_clock::time_point{}) until_ = now + kPatience;
  std::unique_lock lock(work_.mutex_);
  const auto some_ended = [this] { return work_.done_ != seen_; };
  if (now >= until_ || (!some_ended() && work_.open_ == 0)) return false;
  if (!work_.changed_.wait_until(lock, until_, some_ended)) return false;
  seen_ = work_.done_;
  return true;
}

}  // namespace fairgv::session
