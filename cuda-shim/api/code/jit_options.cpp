#include "cuda-shim/api/code/jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {
namespace {

/// Sizes come by value in the pointer.
std::size_t number_in(const void* value) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
}

void fill(const JitLog& log, const std::string& text) {
  if (log.buffer == nullptr || log.size == 0) return;
  const std::size_t bytes = std::min(text.size(), log.size - 1);
  std::memcpy(log.buffer, text.data(), bytes);
  log.buffer[bytes] = '\0';
  if (log.written != nullptr) *log.written = reinterpret_cast<void*>(bytes);
}

}  // namespace

CUresult read_jit_options(unsigned count, const CUjit_option* options, void** values, JitOptions& read) {
  if (count != 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned at = 0; at < count; ++at) {
    if (options[at] < 0 || options[at] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    switch (options[at]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        read.error.buffer = static_cast<char*>(values[at]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        read.error.size = number_in(values[at]);
        read.error.written = &values[at];
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        read.info.buffer = static_cast<char*>(values[at]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        read.info.size = number_in(values[at]);
        read.info.written = &values[at];
        break;
      case CU_JIT_WALL_TIME:  // an output, which only NVIDIA's compiler measures
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
      case CU_JIT_GLOBAL_SYMBOL_COUNT:
      case CU_JIT_REFERENCED_KERNEL_NAMES:
      case CU_JIT_REFERENCED_VARIABLE_NAMES:
        break;
      default:
        read.numbers.push_back({options[at], reinterpret_cast<std::uintptr_t>(values[at])});
    }
  }
  return CUDA_SUCCESS;
}

void tell(const LoadLog& log, const JitOptions& options, CUresult code) {
  fill(options.info, log.info);
  fill(options.error, log.error);
  if (code != CUDA_SUCCESS && options.error.buffer == nullptr && !log.error.empty()) {
    std::istringstream lines(log.error);
    for (std::string line; std::getline(lines, line);)
      std::fprintf(stderr, "%s: %s\n", Driver::get().engine.name(), line.c_str());
  }
}

}  // namespace fairgv::cuda
