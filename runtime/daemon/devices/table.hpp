// The host's devices: all that any worker has seen. Each worker sees some of them (DeviceView).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/daemon/devices/hardware.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

struct DeviceTable {
  std::vector<session::DeviceDescription> devices;
  Hardware hardware;                  // by device
  std::set<std::uint32_t> drained{};  // devices where no session may begin or go on
  /// Those of them that have failed, and why.
  std::map<std::uint32_t, std::string> failed{};

  std::uint32_t size() const { return static_cast<std::uint32_t>(devices.size()); }
  bool empty() const { return devices.empty(); }
  bool is_drained(std::uint32_t device) const { return drained.contains(device); }
  bool has_failed(std::uint32_t device) const { return failed.contains(device); }
  /// The reason why no session may be on a drained device, as words after its name.
  const char* why_empty(std::uint32_t device) const {
    return has_failed(device) ? "has failed" : "is drained";
  }
  /// Whether everything of it is in the books of a device before it.
  bool is_elsewhere(std::uint32_t device) const { return hardware[device] != device; }
};

}  // namespace fairgv::daemon
