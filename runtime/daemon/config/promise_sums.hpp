// Sums of guarantees by device: a tenant has its guarantee on the devices where it lives, not on all.
//
// Pure logic. A tenant that lives everywhere costs one addition.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/daemon/config/values/devices_wanted.hpp"
#include "sched/attributes.hpp"

namespace fairgv::daemon {

class PromiseSums {
 public:
  /// `everywhere`: promised on every device.
  explicit PromiseSums(sched::Share everywhere) : everywhere_(everywhere.ppm) {}

  /// Adds a guarantee on these devices.
  void add(sched::Share share, std::uint64_t devices) {
    if (share.ppm == 0 || devices == 0) return;
    if (devices == kEveryDevice) {
      everywhere_ += share.ppm;
      return;
    }
    some_ |= devices;
    for (std::uint32_t device = 0; device < more_.size(); ++device) {
      if ((devices >> device & 1U) != 0) more_[device] += share.ppm;
    }
  }

  sched::Share on(std::uint32_t device) const { return capped(everywhere_ + more_[device]); }
  /// On the device of these where most is promised.
  sched::Share most(std::uint64_t devices = kEveryDevice) const {
    std::uint64_t most = 0;
    for (std::uint32_t device = 0; some_ != 0 && device < more_.size(); ++device) {
      if ((devices >> device & 1U) != 0) most = std::max(most, more_[device]);
    }
    return capped(everywhere_ + most);
  }

 private:
  static sched::Share capped(std::uint64_t ppm) {
    constexpr std::uint64_t kMost = 0xffff'ffff;
    return {static_cast<std::uint32_t>(std::min(ppm, kMost))};
  }

  std::uint64_t everywhere_;
  std::uint64_t some_ = 0;  // devices of which more is promised
  std::array<std::uint64_t, 64> more_{};
};

}  // namespace fairgv::daemon
