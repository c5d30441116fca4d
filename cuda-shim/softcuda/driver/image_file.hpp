// Loading an image from memory or from a file, for the entry points of modules, libraries and linkings.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cuda.hpp"
#include "module.hpp"

namespace fairgv::softcuda {

/// Null: refused, with the code and the reason.
std::shared_ptr<Image> load_image(const void* image, std::optional<std::uint64_t> size, CUresult& code,
                                  LoadLog& log);

/// CUDA_ERROR_FILE_NOT_FOUND: it cannot be read.
CUresult read_whole_file(const char* path, std::string& bytes);

}  // namespace fairgv::softcuda
