// Handles of the driver's objects, and the code gate, by their short names.
#pragma once

#include "runtime/opencl/code_gate.hpp"
#include "runtime/opencl/handle.hpp"

namespace fairgv::vgpu::opencl {

using namespace fairgv::opencl;

}  // namespace fairgv::vgpu::opencl
