// PTX texts, in whatever containers they come, on their way to one text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/softcuda/link/linker.hpp"

namespace fairgv::cuda::soft {

using ImageBytes = std::span<const std::byte>;

/// For one thread at a time. Errors have a line for each name in the log:
///   CUDA_ERROR_INVALID_SOURCE      names that are defined twice, undefined or disagree, as on NVIDIA's
///   driver CUDA_ERROR_INVALID_PTX         a text that is no PTX CUDA_ERROR_INVALID_IMAGE       a damaged
///   container CUDA_ERROR_NO_BINARY_FOR_GPU   machine code, and no PTX
class TextLinker {
 public:
  /// Nothing stays of an input that is refused. `name`: of the input, in messages.
  CUresult add(CUjitInputType type, ImageBytes input, const std::string& name, LoadLog& log);
  bool is_empty() const { return inputs_ == 0; }

  /// One text comes out as it went in.
  CUresult link(std::string& ptx, LoadLog& log);

 private:
  CUresult add_text(std::string text, const std::string& name, softcuda::link::Inclusion inclusion,
                    LoadLog& log);
  CUresult add_fatbin(ImageBytes fatbin, const std::string& name, softcuda::link::Inclusion inclusion,
                      LoadLog& log);
  CUresult add_object(ImageBytes object, const std::string& name, softcuda::link::Inclusion inclusion,
                      LoadLog& log);
  CUresult add_library(ImageBytes archive, const std::string& name, LoadLog& log);

  softcuda::link::Linker linker_;
  std::size_t inputs_ = 0;
  std::size_t texts_ = 0;
  std::string first_text_;
};

}  // namespace fairgv::cuda::soft
