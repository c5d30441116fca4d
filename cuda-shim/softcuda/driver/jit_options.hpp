// The options of cuModuleLoadDataEx, cuLibraryLoadData and cuLinkCreate ("CUjit_option"): which of them mean
// something here, namely the log buffers. The others steer NVIDIA's compiler; they are taken and have nothing
// to steer.
#pragma once

#include <string>

#include "cuda.hpp"
#include "module.hpp"

namespace fairgv::softcuda {

struct JitLog {
  char* buffer = nullptr;
  std::size_t size = 0;      // bytes of the buffer
  void** written = nullptr;  // where the option's value becomes the bytes written
};

struct JitOptions {
  JitLog error, info;
  float* wall_time = nullptr;
};

/// CUDA_ERROR_INVALID_VALUE: an option that no version knows, or a missing array.
CUresult read_jit_options(unsigned count, const CUjit_option* options, void** values, JitOptions& read);
/// Into the program's buffers; where it gave none, a failure goes to stderr, for nobody else will say why.
void tell(const LoadLog& log, const JitOptions& options, CUresult code);

}  // namespace fairgv::softcuda
