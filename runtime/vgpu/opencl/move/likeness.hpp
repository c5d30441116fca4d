// Whether a program could tell that another device has taken the place of its own.
#pragma once

#include <CL/cl.h>

#include <optional>

#include "runtime/vgpu/backend/device_difference.hpp"

namespace fairgv::vgpu::opencl {

/// The first thing that the device `to` has less of than `from`, or has otherwise: such as exclude the move
/// before others. Nothing: a program that runs on the one goes on on the other.
std::optional<DeviceDifference> lacks(cl_device_id from, cl_device_id to);

}  // namespace fairgv::vgpu::opencl
