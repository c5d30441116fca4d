// The functions in front of nvJitLink: its machine code is PTX on the software device.
#pragma once

#include <span>

#include "cuda-shim/redirect/compiler_functions.hpp"

namespace fairgv::jit {

/// Sets the replacements of one nvJitLink library's functions. Under the dynamic linker's lock.
void replace_nvjitlink(std::span<redirect::CompilerFunction> functions);

}  // namespace fairgv::jit
