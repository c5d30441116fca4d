// What the shared parts of the driver keep of memory (cuda-shim/api): here, memory of the OpenCL device.
#pragma once

#include "opencl_device.hpp"

namespace fairgv::cuda {

using Storage = DeviceMemory;
using ArrayStorage = DeviceMemory;  // rows without gaps

}  // namespace fairgv::cuda
