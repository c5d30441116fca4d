// The resources that the launches of one context share: the limits that the program sets (cuCtxSetLimit), and
// the heap of malloc in kernels, which is made for the first launch that needs it. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda::soft {

class ContextResources {
 public:
  ContextResources();

  CUresult limit(CUlimit which, std::size_t& value) const;
  /// CUDA_ERROR_INVALID_VALUE: the heap's size, once there is a heap.
  CUresult set_limit(CUlimit which, std::size_t value);

  /// Bytes of each thread's call stack, where a kernel has one: a multiple of 64.
  std::uint32_t stack_bytes() const;
  /// The address of the heap's head; 0: the device has no memory for it.
  std::uint64_t heap(const OpenClDevice& device);
  /// The heap's memory; nothing if there is none yet.
  struct HeapMemory {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  HeapMemory heap_memory() const;

 private:
  mutable std::mutex lock_;
  std::map<CUlimit, std::size_t> limits_;
  DeviceMemory heap_;
  std::uint64_t heap_bytes_ = 0;
};

}  // namespace fairgv::cuda::soft
