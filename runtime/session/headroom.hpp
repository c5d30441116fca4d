// Device memory that a session was granted and does not use, by device: each side of a session keeps its own
// count, and both agree. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace fairgv::session {

class Headroom {
 public:
  static constexpr std::uint32_t kMostDevices = 64;

  /// The least that there is on one of the devices; a set of devices has bit d for device d, and is not
  /// empty.
  std::uint64_t least(std::uint64_t devices) const {
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    each(devices, [&](std::uint32_t device) { bytes = std::min(bytes, bytes_[device]); });
    return bytes;
  }
  std::uint64_t most(std::uint64_t devices) const {
    std::uint64_t bytes = 0;
    each(devices, [&](std::uint32_t device) { bytes = std::max(bytes, bytes_[device]); });
    return bytes;
  }
  /// On each of the devices.
  void add(std::uint64_t devices, std::uint64_t bytes) {
    each(devices, [&](std::uint32_t device) { bytes_[device] += bytes; });
  }
  /// There must be so much on each.
  void take(std::uint64_t devices, std::uint64_t bytes) {
    each(devices, [&](std::uint32_t device) { bytes_[device] -= bytes; });
  }

 private:
  template <class Visit>
  static void each(std::uint64_t devices, Visit visit) {
    for (; devices != 0; devices &= devices - 1) visit(static_cast<std::uint32_t>(std::countr_zero(devices)));
  }

  std::array<std::uint64_t, kMostDevices> bytes_{};
};

}  // namespace fairgv::session
