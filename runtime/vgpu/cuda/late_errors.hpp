// What fails after the front end was told that all is well (ring::LateError).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>

#include "runtime/ring/segment.hpp"

namespace fairgv::vgpu::cuda {

/// Whether nothing can run any more after it (CUDA Driver API, "CUresult": those that leave the process in an
/// inconsistent state).
constexpr bool is_fatal(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

/// Any thread may call any method.
class LateErrors {
 public:
  explicit LateErrors(ring::LateError& shared) : shared_(shared) {}

  void report(CUresult code) {
    const std::lock_guard lock(mutex_);
    if (is_fatal(code_)) return;  // the first one says what went wrong
    code_ = code;
    ++count_;
    // Pairs with ClientSession::late_error().
    shared_.state.store(ring::LateError::make(count_, static_cast<std::uint32_t>(code)),
                        std::memory_order_release);
  }

 private:
  ring::LateError& shared_;
  std::mutex mutex_;  // guards what follows
  CUresult code_ = CUDA_SUCCESS;
  std::uint32_t count_ = 0;
};

}  // namespace fairgv::vgpu::cuda
