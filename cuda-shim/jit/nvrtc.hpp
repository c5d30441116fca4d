// The functions in front of NVRTC: its machine code is PTX on the software device.
#pragma once

#include <span>

#include "cuda-shim/redirect/compiler_functions.hpp"

namespace fairgv::jit {

/// Sets the replacements of one NVRTC library's functions. Under the dynamic linker's lock.
void replace_nvrtc(std::span<redirect::CompilerFunction> functions);

}  // namespace fairgv::jit
