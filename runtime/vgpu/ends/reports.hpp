// Drivers' reports that came while another thread had the executor's lock: a list to which any thread adds
// and from which the holder of the lock takes, without either waiting for the other.
//
// No report is left behind if a thread that adds a report tries the lock afterwards, and a thread that lets
// go of the lock asks any() afterwards. put() and any() both change the list's head, so one of the two is
// first. If put() is first, any() says so. If any() is first, the lock was free before the report was put:
// trying it succeeds, unless another thread has it since, and that thread will ask in turn.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace fairgv::vgpu {

class DeviceCommand;

class Reports {
 public:
  struct Report {
    DeviceCommand* command = nullptr;
    std::int32_t status = 0;
    std::chrono::steady_clock::time_point at{};  // of the driver's call
  };
  struct Entry {
    Report report;
    std::unique_ptr<Entry> next;
  };

  Reports() = default;
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports() { take(); }

  /// Any thread. False if there is no memory for it.
  bool put(const Report& report) noexcept;

  /// Whether there are any. Not const: see above.
  bool any() {
    // Release: a put() that comes later sees that the caller has let go of the lock. Acquire: pairs with
    // put().
    return head_.fetch_add(0, std::memory_order_acq_rel) != nullptr;
  }

  /// All, in the order in which they were put; null if there are none.
  std::unique_ptr<Entry> take() noexcept;

 private:
  std::atomic<Entry*> head_{nullptr};  // the latest
};

}  // namespace fairgv::vgpu
