#pragma once
// SIGTERM asks a measurement to come to its end: a program's starter need not know beforehand how long it is
// to run.

#include <atomic>
#include <csignal>

namespace workloads {

/// While it lives, the first SIGTERM is a request and a second one ends the program. One at a time.
class StopRequest {
 public:
  StopRequest() {
    came_.store(false, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = [](int) { came_.store(true, std::memory_order_relaxed); };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    ::sigaction(SIGTERM, &action, &before_);
  }
  ~StopRequest() { ::sigaction(SIGTERM, &before_, nullptr); }
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool came() const { return came_.load(std::memory_order_relaxed); }

 private:
  // A handler may touch it because it is lock-free, and it orders nothing else.
  static inline std::atomic<bool> came_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
  struct sigaction before_ {};
};

}  // namespace workloads
