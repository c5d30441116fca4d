// Functions of CUDA's device runtime library (libcudadevrt) that programs call without having them: they are
// PTX of this device's own, beside what the device does by itself (flatten_code.cpp, kDeviceFunctions).
#pragma once

#include <string>

#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda {

/// Gives a body to each function that the module declares and that this library has, with the same
/// parameters. It is used in place of the toolkit's, too, which a linker may have put into the module: that
/// one asks NVIDIA's driver.
void define_device_functions(slicing::ptx::Module& module);

/// Why a kernel that calls this function, whose body is nowhere, is refused.
std::string why_not_provided(const std::string& function);

}  // namespace fairgv::softcuda
