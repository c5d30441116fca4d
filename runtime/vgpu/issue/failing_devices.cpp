#include "runtime/vgpu/issue/failing_devices.hpp"

namespace fairgv::vgpu {

bool FailingDevices::fails(wire::DeviceIndex device, const std::string& error, Time now) {
  if (device >= session::kMaxDevices) return false;
  const std::lock_guard lock(mutex_);
  Device& its = devices_.at(device);
  if (its.is_asked) return true;
  if (its.answered && now - *its.answered < kBetweenQuestions) return false;
  its.is_asked = send_({device, error});
  return its.is_asked;
}

void FailingDevices::used_again(wire::DeviceIndex device, Time now) {
  if (device >= session::kMaxDevices) return;
  const std::lock_guard lock(mutex_);
  devices_.at(device) = {false, now};
}

}  // namespace fairgv::vgpu
