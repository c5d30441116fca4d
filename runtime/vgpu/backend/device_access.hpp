// The devices that the session's program may use: the daemon may have chosen some among those that the worker
// sees (docs/SCHEDULING.md, Device choice). Lists that the program asks for leave the others out, and
// contexts on them are refused, whatever front end the program has. They keep their numbers.
//
// Any thread may ask. The daemon has written its choice before the program's first call.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/session/turn.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

class DeviceAccess {
 public:
  /// All devices may be used.
  DeviceAccess() = default;
  /// By device, as the daemon says; the memory outlives this.
  explicit DeviceAccess(std::span<const session::TurnPromise> devices) : devices_(devices) {}

  /// The session has been moved to this device: the program's own devices lie there.
  void moved_to(wire::DeviceIndex device) {
    if (device < session::kMaxDevices) moved_to_ |= std::uint64_t{1} << device;
  }

  bool may_use(wire::DeviceIndex device) const {
    if (device < session::kMaxDevices && (moved_to_ >> device & 1) != 0) return true;
    return may_name(device);
  }
  /// Of the devices by the program's numbers, wherever they lie.
  bool may_name(wire::DeviceIndex device) const {
    return device >= devices_.size() || devices_[device].hidden.load(std::memory_order_relaxed) == 0;
  }

 private:
  std::span<const session::TurnPromise> devices_;
  std::uint64_t moved_to_ = 0;  // a bit each
};

}  // namespace fairgv::vgpu
