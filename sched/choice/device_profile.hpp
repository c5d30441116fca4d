// The profile of a device among which tenants choose: Pegasus' accelerator profile (section 3.2). Its static
// part says what the hardware can do, its dynamic part, DeviceLoad, what the tenants there have of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sched/attributes.hpp"

namespace fairgv::sched {

struct DeviceProfile {
  static constexpr std::uint64_t kMostSpeed = std::uint64_t{1} << 23;

  /// In a unit of the caller's: speed_of(), or a measured speed. 1 to kMostSpeed; values beyond are cut off.
  std::uint64_t speed = 1;
  std::uint64_t memory = 0;     // bytes to share out; 0: unknown, never too little
  std::uint64_t bandwidth = 0;  // bytes per second between host and device, both ways; 0: unknown
  std::uint32_t platform = 0;
  std::uint64_t type = 1;  // as cl_device_type, a bit
  /// The most of it that may be promised, the floor of the batch class included.
  Share promise_limit{Share::kWholePpm * 9 / 10};
};

/// Compute units times clock.
constexpr std::uint64_t speed_of(std::uint64_t compute_units, std::uint64_t megahertz) {
  if (compute_units == 0 || megahertz == 0) return 1;
  if (compute_units > DeviceProfile::kMostSpeed / megahertz) return DeviceProfile::kMostSpeed;
  return compute_units * megahertz;
}

/// Sums over the tenants with sessions on a device.
struct DeviceLoad {
  std::uint64_t memory = 0;     // bytes that they hold, or are expected to need
  std::uint64_t elsewhere = 0;  // bytes that nobody here can have: of other programs, and the driver's own
  std::uint32_t tenants = 0;
  std::uint32_t sessions = 0;
  std::uint64_t used_ppm = 0;       // measured last
  std::uint64_t promised_ppm = 0;   // guarantees, without the floor of the batch class
  std::uint64_t weight = 0;         // of normal and latency tenants
  std::uint64_t batch_weight = 0;   // of batch tenants
  std::uint64_t hungry_weight = 0;  // of the normal and latency tenants that may want more than they have
  /// Goes before weights share the rest: what content tenants use, and the guarantees of all others.
  std::uint64_t kept_ppm = 0;

  friend bool operator==(const DeviceLoad&, const DeviceLoad&) = default;
};

}  // namespace fairgv::sched
