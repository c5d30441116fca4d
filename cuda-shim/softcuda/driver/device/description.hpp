// The facts of the soft device that never change.
#pragma once

#include "cuda-shim/api/engine.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda::soft {

DeviceDescription describe(const DeviceFacts& facts);

}  // namespace fairgv::cuda::soft
