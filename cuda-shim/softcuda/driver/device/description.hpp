// What the soft device says of itself that never changes.
#pragma once

#include "cuda-shim/api/engine.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda::soft {

DeviceDescription describe(const DeviceFacts& facts);

}  // namespace fairgv::cuda::soft
