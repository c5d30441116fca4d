// Whether a program could tell that another device has taken the place of its own.
#pragma once

#include <CL/cl.h>

#include <optional>
#include <string>

namespace fairgv::vgpu::opencl {

/// As one line, what the device `to` has less of than `from`, or has otherwise; nothing: a program that runs
/// on the one goes on on the other.
std::optional<std::string> lacks(cl_device_id from, cl_device_id to);

}  // namespace fairgv::vgpu::opencl
