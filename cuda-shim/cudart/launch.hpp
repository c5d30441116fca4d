// Kernels by the program's names for them, and launches.
#ifndef FAIRGV_CUDA_SHIM_CUDART_LAUNCH_HPP
#define FAIRGV_CUDA_SHIM_CUDART_LAUNCH_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// Finds a kernel by the address of its stub, or by a handle of ours. Anything else is
// cudaErrorInvalidDeviceFunction.
Status find_kernel(const Driver& driver, const void* function, CUkernel& kernel);
// The same as a function of the current context, for calls that the driver offers for functions only.
Status find_function(const Driver& driver, const void* function, CUfunction& found);

// Launches take a kernel in a function's place (CUDA Driver API, cuLaunchKernel).
inline CUfunction as_function(CUkernel kernel) {
  return std::bit_cast<CUfunction>(kernel);
}

// The driver's structure of an extended launch. `stream` and attributes as the program gave them.
Status describe_launch(const cudaLaunchConfig_t& config, CUlaunchConfig& described);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_LAUNCH_HPP
