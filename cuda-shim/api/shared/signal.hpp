// Something that happens once, for those who wait for it without a thread.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace fairgv::cuda {

/// Any thread may call.
class Signal {
 public:
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  void set() {
    std::function<void()> heard;
    {
      const std::lock_guard guard(lock_);
      // Release: what was seen before is_set() is seen behind it, too.
      if (set_.exchange(true, std::memory_order_release)) return;
      heard = std::exchange(heard_, nullptr);
    }
    if (heard) heard();
  }
  /// Calls the function once, now or by set(). For one function.
  void then(std::function<void()> function) {
    {
      const std::lock_guard guard(lock_);
      if (!is_set()) {
        heard_ = std::move(function);
        return;
      }
    }
    function();
  }

 private:
  std::atomic<bool> set_{false};
  std::mutex lock_;  // guards heard_, and the change of set_
  std::function<void()> heard_;
};

}  // namespace fairgv::cuda
