#include "runtime/vgpu/ends/reports.hpp"

#include <new>
#include <utility>

namespace fairgv::vgpu {

bool Reports::put(const Report& report) noexcept {
  Entry* const entry = new (std::nothrow) Entry{report, nullptr};
  if (entry == nullptr) return false;
  Entry* before = head_.load(std::memory_order_relaxed);
  do {
    // No thread takes single entries, so `before` is still the head, or the exchange fails.
    entry->next.release();
    entry->next.reset(before);
    // Release: pairs with take(). Acquire: pairs with any().
  } while (!head_.compare_exchange_weak(before, entry, std::memory_order_acq_rel, std::memory_order_relaxed));
  return true;
}

std::unique_ptr<Reports::Entry> Reports::take() noexcept {
  // Acquire: pairs with put(), of all entries: each put() goes on with the release of the one before.
  std::unique_ptr<Entry> latest(head_.exchange(nullptr, std::memory_order_acquire));
  std::unique_ptr<Entry> first;
  while (latest) {
    std::unique_ptr<Entry> earlier = std::move(latest->next);
    latest->next = std::move(first);
    first = std::exchange(latest, std::move(earlier));
  }
  return first;
}

}  // namespace fairgv::vgpu
