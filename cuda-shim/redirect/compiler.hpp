// Puts libfairgv-jit.so in front of the run-time compilers of a CUDA program: NVRTC, nvJitLink, and nvcc.
#pragma once

#include <span>

#include "cuda-shim/redirect/loaded_object.hpp"

namespace fairgv::redirect {

/// If the object is NVRTC or nvJitLink, in whatever file, sends its callers to libfairgv-jit.so, which passes
/// on what it does not change. Called before the object's own code runs, with all objects that are loaded.
void redirect_compiler(const LoadedObject& object, const ObjectFile& file,
                       std::span<const LoadedObject> objects);

/// If this process is nvcc, and is to make machine code for the software device, it makes PTX and ends.
/// `arguments` are main's.
void redirect_nvcc(char** arguments);

}  // namespace fairgv::redirect
