// The devices that the session's program may use: the daemon may have chosen some among those that the worker
// sees (docs/SCHEDULING.md, Device choice). Lists that the program asks for leave the others out, and
// contexts on them are refused, whatever front end the program has. They keep their numbers.
//
// Any thread may ask. The daemon has written its choice before the program's first call.
#pragma once

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

  bool may_use(wire::DeviceIndex device) const {
    return device >= devices_.size() || devices_[device].hidden.load(std::memory_order_relaxed) == 0;
  }

 private:
  std::span<const session::TurnPromise> devices_;
};

}  // namespace fairgv::vgpu
