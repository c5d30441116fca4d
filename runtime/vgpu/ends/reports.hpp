// What drivers have reported while somebody else had the executor's lock: a list that any thread adds to and
// whoever has the lock takes, without either waiting for the other.
//
// Nothing is left behind, if who adds tries the lock afterwards, and who lets go of the lock asks any()
// afterwards. put() and any() both change the list's head, so one of the two is first. If it is put(), any()
// says so. If it is any(), the lock had been let go of before what is put now: trying it succeeds, unless
// somebody has it since, who will ask in turn.
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
    // Release: what the caller did before, letting go of the lock, is seen by a put() that comes later.
    // Acquire: pairs with put().
    return head_.fetch_add(0, std::memory_order_acq_rel) != nullptr;
  }

  /// All, in the order in which they were put; null if there are none.
  std::unique_ptr<Entry> take() noexcept;

 private:
  std::atomic<Entry*> head_{nullptr};  // the latest
};

}  // namespace fairgv::vgpu
