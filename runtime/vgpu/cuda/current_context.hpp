// The context that is current on a thread of the worker's. The driver is told when it changes.
#pragma once

#include <cuda.h>

#include "runtime/vgpu/cuda/driver.hpp"

namespace fairgv::vgpu::cuda {

/// Of the calling thread, as far as it is known.
inline CUcontext& current_context() {
  thread_local CUcontext current = nullptr;
  return current;
}

/// Makes `context` current on the calling thread. Returns the driver's answer.
inline CUresult use(const Functions& driver, CUcontext context) {
  CUcontext& current = current_context();
  if (current == context) return CUDA_SUCCESS;
  const CUresult code = driver.cuCtxSetCurrent(context);
  current = code == CUDA_SUCCESS ? context : nullptr;
  return code;
}

}  // namespace fairgv::vgpu::cuda
