// This engine's hold on memory, arrays and texture objects: memory of the OpenCL device.
#pragma once

#include <utility>

#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/api/memory/storage.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda::soft {

/// For an array: rows without gaps. For a texture or surface object: its block for kernels (image_block.hpp).
class OwnedMemory final : public Storage {
 public:
  explicit OwnedMemory(DeviceMemory memory) : memory_(std::move(memory)) {}
  const DeviceMemory& memory() const { return memory_; }

 private:
  const DeviceMemory memory_;
};

/// The memory of an object that this engine has made: not registered memory.
template <typename Object>
const DeviceMemory& memory_of(const Object& object) {
  return static_cast<const OwnedMemory&>(*object.storage).memory();
}

}  // namespace fairgv::cuda::soft
