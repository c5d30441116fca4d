// The residencies of a session's devices whose memory is lent, and the bytes on them that are in no block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/vgpu/residency/residency.hpp"

namespace fairgv::vgpu {

class Residencies {
 public:
  /// By device; the pages outlive this. `is_silent`: another worker serves the session still.
  Residencies(std::span<session::DeviceResidency> pages, const std::function<void()>& knock,
              bool is_silent = false);

  /// Null where the device's memory is not lent. The loop thread's.
  Residency* of(std::size_t device) const;
  /// For IssueSettings.
  std::span<Residency* const> by_device() const { return by_device_; }
  /// Has the loop look again at what it may issue; before the first block.
  void set_wake(std::function<void()> wake) { *wake_ = std::move(wake); }

  /// The loop thread's: memory that is in no block, on these devices.
  void add_other(std::uint64_t devices, std::uint64_t bytes) { change_other(devices, bytes, true); }
  void remove_other(std::uint64_t devices, std::uint64_t bytes) { change_other(devices, bytes, false); }

 private:
  void change_other(std::uint64_t devices, std::uint64_t bytes, bool more);

  const std::shared_ptr<std::function<void()>> wake_ = std::make_shared<std::function<void()>>([] {});
  std::vector<std::unique_ptr<Residency>> owned_;  // of all devices
  std::vector<Residency*> by_device_;
  std::vector<std::uint64_t> others_;
};

/// The memory of one object that is in no block, until its destructor.
class OtherMemory {
 public:
  OtherMemory() = default;  // none
  OtherMemory(Residencies& residencies, std::uint64_t devices, std::uint64_t bytes)
      : residencies_(&residencies), devices_(devices), bytes_(bytes) {
    residencies.add_other(devices, bytes);
  }
  OtherMemory(OtherMemory&& other) noexcept { *this = std::move(other); }
  OtherMemory& operator=(OtherMemory&& other) noexcept {
    std::swap(residencies_, other.residencies_);
    std::swap(devices_, other.devices_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  OtherMemory(const OtherMemory&) = delete;
  OtherMemory& operator=(const OtherMemory&) = delete;
  ~OtherMemory() {
    if (residencies_ != nullptr) residencies_->remove_other(devices_, bytes_);
  }

 private:
  Residencies* residencies_ = nullptr;
  std::uint64_t devices_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace fairgv::vgpu
