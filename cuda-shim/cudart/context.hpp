// The primary contexts that this process holds, one per device (CUDA Driver API, "Primary Context
// Management").
#ifndef FAIRGV_CUDA_SHIM_CUDART_CONTEXT_HPP
#define FAIRGV_CUDA_SHIM_CUDART_CONTEXT_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// Makes the primary context of the device current in this thread; retains it the first time.
Status bind_device(const Driver& driver, int device);
// The device's primary context, retained the first time; this thread's current context stays unchanged.
Status hold_device(const Driver& driver, int device, CUcontext* context = nullptr);
// Destroys everything in the device's primary context. Threads that had this context current get the next one
// at their next call.
Status reset_device(const Driver& driver, int device);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_CONTEXT_HPP
