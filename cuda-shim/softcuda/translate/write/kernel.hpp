// One kernel as OpenCL C, in one of two shapes. Direct: a work-item is a thread, barriers are OpenCL's.
// Stepped: one work-item runs all threads of the block, each up to its next synchronisation
// (prelude/stepped.cl); it is for kernels whose threads exchange values in warps or may reach barriers by
// different ways, which OpenCL does not allow.
#pragma once

#include <optional>
#include <string>

#include "cuda-shim/softcuda/translate/flatten.hpp"

namespace fairgv::softcuda {

/// Appends the kernel to `source`, under the name `flattened.info.function`, and completes the info. Nothing
/// is appended after an error.
std::optional<FlattenError> write_kernel(Flattened& flattened, std::string& source);

}  // namespace fairgv::softcuda
