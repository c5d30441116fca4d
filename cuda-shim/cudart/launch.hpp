// Kernels by what the program calls them, and launches.
#ifndef FAIRGV_CUDA_SHIM_CUDART_LAUNCH_HPP
#define FAIRGV_CUDA_SHIM_CUDART_LAUNCH_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// The kernel that the program means: by the address of its stub, or by a handle of ours. Anything else is
// cudaErrorInvalidDeviceFunction.
Status find_kernel(const Driver& driver, const void* function, CUkernel& kernel);
// The same as a function of the current context, for what the driver offers for functions only.
Status find_function(const Driver& driver, const void* function, CUfunction& found);

// Launches take a kernel in a function's place (CUDA Driver API, cuLaunchKernel).
inline CUfunction as_function(CUkernel kernel) {
  return std::bit_cast<CUfunction>(kernel);
}

// The driver's structure of an extended launch. `stream` and attributes as the program gave them.
Status describe_launch(const cudaLaunchConfig_t& config, CUlaunchConfig& described);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_LAUNCH_HPP
