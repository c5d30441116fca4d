// Failures after the front end was told that all is well (ring::LateError).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>

#include "runtime/ring/segment.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"

namespace fairgv::vgpu::cuda {

/// Any thread may call any method.
class LateErrors {
 public:
  explicit LateErrors(ring::LateError& shared) : shared_(shared) {}

  /// The sticky one, with which all later work fails; else CUDA_SUCCESS.
  CUresult fault() const {
    const std::lock_guard lock(mutex_);
    return wire::cuda::is_sticky(code_) ? code_ : CUDA_SUCCESS;
  }

  /// How many there were, of which the program has the latest: for a worker that takes the session over.
  std::uint32_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  void begin_at(std::uint32_t count) {
    const std::lock_guard lock(mutex_);
    count_ = count;
  }

  void report(CUresult code) {
    const std::lock_guard lock(mutex_);
    if (wire::cuda::is_sticky(code_)) return;  // the first one says what went wrong
    code_ = code;
    ++count_;
    // Pairs with ClientSession::late_error().
    shared_.state.store(ring::LateError::make(count_, static_cast<std::uint32_t>(code)),
                        std::memory_order_release);
  }

 private:
  ring::LateError& shared_;
  mutable std::mutex mutex_;  // guards what follows
  CUresult code_ = CUDA_SUCCESS;
  std::uint32_t count_ = 0;
};

}  // namespace fairgv::vgpu::cuda
