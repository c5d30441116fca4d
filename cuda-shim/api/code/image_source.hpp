// Reading an image from a file, for the entry points of modules, libraries and linkings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

/// CUDA_ERROR_FILE_NOT_FOUND: it cannot be read.
CUresult read_whole_file(const char* path, std::string& bytes);

}  // namespace fairgv::cuda
