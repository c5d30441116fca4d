// The options of cuModuleLoadDataEx, cuLibraryLoadData and cuLinkCreate ("CUjit_option"): the program's log
// buffers, and the numbers that steer a compiler, if the engine has one to steer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

/// The messages of a load, for the program's log buffers.
struct LoadLog {
  std::string error;
  std::string info;
};

struct JitLog {
  char* buffer = nullptr;
  std::size_t size = 0;      // bytes of the buffer
  void** written = nullptr;  // where the option's value becomes the bytes written
};

struct JitNumber {
  CUjit_option option;
  std::uint64_t value;
};

struct JitOptions {
  JitLog error, info;
  std::vector<JitNumber> numbers;
};

/// CUDA_ERROR_INVALID_VALUE: an option that no version knows, or a missing array.
CUresult read_jit_options(unsigned count, const CUjit_option* options, void** values, JitOptions& read);
/// Writes the messages into the program's buffers. A failure goes to stderr if the program gave no buffer,
/// because nothing else would report the reason.
void tell(const LoadLog& log, const JitOptions& options, CUresult code);

}  // namespace fairgv::cuda
