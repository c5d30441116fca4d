// Loading an image from memory or from a file, for the entry points of modules, libraries and linkings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "module.hpp"

namespace fairgv::cuda {

/// The engine's. Null: refused, with the code and the reason. `size`: where it is known (a file); an image in
/// memory says its own size.
std::shared_ptr<Image> load_image(const void* image, std::optional<std::uint64_t> size,
                                  const JitOptions& options, CUresult& code, LoadLog& log);

/// CUDA_ERROR_FILE_NOT_FOUND: it cannot be read.
CUresult read_whole_file(const char* path, std::string& bytes);

}  // namespace fairgv::cuda
