#include "runtime/daemon/devices/hardware.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

bool is_cpu(const session::DeviceDescription& device) {
  constexpr std::uint64_t kCpu = 1U << 1;  // CL_DEVICE_TYPE_CPU
  return (device.type & kCpu) != 0;
}

/// Drivers that have no identity to give may give zeros.
bool is_identity(const std::string& id) {
  return std::any_of(id.begin(), id.end(), [](char c) { return c >= '1' && c <= '9'; });
}

/// A driver that shows two devices with one identity shows two all the same.
bool are_one(const session::DeviceDescription& a, const session::DeviceDescription& b) {
  return (is_cpu(a) && is_cpu(b)) || (a.platform != b.platform && a.id == b.id && is_identity(a.id));
}

}  // namespace

std::uint32_t hardware_of(const session::DeviceDescription& added,
                          const std::vector<session::DeviceDescription>& table, const Hardware& hardware,
                          const DeviceRules& rules) {
  const auto own = static_cast<std::uint32_t>(table.size());
  if (const auto said = rules.of(own).same_as) return *said < own ? hardware[*said] : own;
  for (std::uint32_t device = 0; device < own; ++device) {
    // A device that is configured to stand for itself takes no other in.
    if (rules.of(device).same_as == device) continue;
    if (are_one(table[device], added)) return hardware[device];
  }
  return own;
}

}  // namespace fairgv::daemon
