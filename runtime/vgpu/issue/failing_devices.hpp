// The devices that this session's drivers call failed: the daemon is told, and nothing more is handed to such
// a device until the daemon has decided (session/device/device_failure.hpp). Else every command of the
// session would end with the driver's error, and not only those that were under way.
//
// A device that works after all, or that the session cannot leave, is used again, and further errors go to
// the program. The daemon is asked again once they have lasted.
//
// Any thread may call any method.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "runtime/session/device/device_failure.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

class FailingDevices {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Tells the daemon; false if it could not be told now. Must not wait (Socket::offer).
  using Send = std::function<bool(const session::DeviceFailed&)>;

  /// From an answer of the daemon's to the next question about the same device.
  static constexpr std::chrono::seconds kBetweenQuestions{1};

  explicit FailingDevices(Send send) : send_(std::move(send)) {}

  /// The driver says with this error that the device has failed. Returns whether the daemon's decision is
  /// waited for.
  bool fails(wire::DeviceIndex device, const std::string& error, Time now);
  /// The daemon says that the device is to be used.
  void used_again(wire::DeviceIndex device, Time now);

 private:
  struct Device {
    bool is_asked = false;
    std::optional<Time> answered{};
  };

  const Send send_;
  std::mutex mutex_;  // guards what follows
  std::array<Device, session::kMaxDevices> devices_{};
};

}  // namespace fairgv::vgpu
