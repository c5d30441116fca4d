// The memory of one launch beside its parameters: the runtime block that the kernel reads and writes, the
// ring for its printf records, and scratch memory. Frames are kept and used again; there are as many frames
// as launches ever ran at once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "cuda-shim/softcuda/translate/runtime_block.hpp"

namespace fairgv::cuda::soft {

using softcuda::RuntimeBlock;

class LaunchFrame {
 public:
  static constexpr std::uint64_t kRingBytes = std::uint64_t{1} << 20U;

  /// Empty frame: the device has no memory for it.
  static std::unique_ptr<LaunchFrame> make(const OpenClDevice& device);
  /// Prepares the frame for a launch; more may be set in block() after it. `slot_bytes`, `slots`: scratch of
  /// a stepped kernel, or zero. False: no memory.
  bool prepare(const OpenClDevice& device, std::uint64_t dynamic_shared, std::uint64_t slot_bytes,
               std::uint32_t slots);
  RuntimeBlock& block() { return *reinterpret_cast<RuntimeBlock*>(block_.data()); }
  std::uint64_t address() const { return block_.address(); }
  const std::byte* ring() const { return ring_.data(); }

 private:
  DeviceMemory block_, ring_, scratch_;
  std::uint64_t scratch_bytes_ = 0;
};

class LaunchFrames {
 public:
  /// Null: the device has no memory for another frame.
  std::unique_ptr<LaunchFrame> take(const OpenClDevice& device);
  void give_back(std::unique_ptr<LaunchFrame> frame);

 private:
  std::mutex lock_;
  std::vector<std::unique_ptr<LaunchFrame>> free_;
};

}  // namespace fairgv::cuda::soft
