// Tries whether an OpenCL device can be used: a context, a queue, a kernel, and its result read back.
#pragma once

#include "runtime/session/device/device_failure.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::opencl {

session::TrialEnded try_device(const Driver& driver, wire::DeviceIndex device);

}  // namespace fairgv::vgpu::opencl
