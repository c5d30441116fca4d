// What the shared parts of the driver keep of memory (cuda-shim/api): here, memory of the OpenCL device.
#pragma once

#include <utility>

#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda {

using Storage = DeviceMemory;
using ArrayStorage = DeviceMemory;  // rows without gaps

/// The block that a texture or surface object is to kernels (image_block.hpp); its address is the handle.
class TextureStorage {
 public:
  TextureStorage() = default;
  explicit TextureStorage(DeviceMemory block) : block_(std::move(block)) {}
  std::uint64_t handle() const { return block_.address(); }

 private:
  DeviceMemory block_;
};

}  // namespace fairgv::cuda
