// Functions of CUDA's device runtime library (libcudadevrt) that programs call without having them: they are
// PTX of this device's own, beside what the device does by itself (flatten_code.cpp, kDeviceFunctions).
#pragma once

#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda {

/// Gives a body to each function that the module only declares and that this library has, with the same
/// parameters.
void define_device_functions(slicing::ptx::Module& module);

}  // namespace fairgv::softcuda
