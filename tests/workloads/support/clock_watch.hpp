#pragma once
// Reads the clock again and again, and knows the largest gap: what a program notices of a pause in which
// nothing of it runs.

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>

namespace workloads {

class ClockWatch {
 public:
  using Milliseconds = std::chrono::duration<double, std::milli>;

  explicit ClockWatch(std::chrono::milliseconds period)
      : thread_([this, period](const std::stop_token& stop) { watch(stop, period); }) {}

  /// Ends the watch.
  Milliseconds largest_gap() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return largest_;
  }

 private:
  void watch(const std::stop_token& stop, std::chrono::milliseconds period) {
    auto before = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(period);
      const auto now = std::chrono::steady_clock::now();
      largest_ = std::max<Milliseconds>(largest_, now - before);
      before = now;
    }
  }

  Milliseconds largest_{0};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace workloads
