// The accelerator queue (Pegasus, section 3.2): devices in the order of their weight, the highest first;
// among equals the one with more bandwidth, then the one with the smaller number.
//
// Not thread-safe; used by DeviceChoice. set() is O(log n).
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

namespace fairgv::sched {

class AcceleratorQueue {
 public:
  struct Entry {
    std::uint64_t weight = 0;
    std::uint64_t bandwidth = 0;
    std::uint32_t device = 0;

    /// Better ones are smaller.
    friend std::strong_ordering operator<=>(const Entry& a, const Entry& b) {
      if (const auto order = b.weight <=> a.weight; order != 0) return order;
      if (const auto order = b.bandwidth <=> a.bandwidth; order != 0) return order;
      return a.device <=> b.device;
    }
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// Adds the device, or gives it another place. Devices are numbered from 0 on.
  void set(const Entry& entry) {
    if (entry.device >= entries_.size()) {
      entries_.resize(entry.device + 1);
    } else if (entries_[entry.device] == entry) {
      return;
    } else {
      order_.erase(entries_[entry.device]);
    }
    entries_[entry.device] = entry;
    order_.insert(entry);
  }
  const std::set<Entry>& order() const { return order_; }

 private:
  std::set<Entry> order_;
  std::vector<Entry> entries_;  // by device
};

}  // namespace fairgv::sched
