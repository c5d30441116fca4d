// For entry points that are not served. Includes nothing of the runtime API, whose declarations they would
// contradict.
#ifndef FAIRGV_CUDA_SHIM_CUDART_REFUSED_HPP
#define FAIRGV_CUDA_SHIM_CUDART_REFUSED_HPP

namespace fairgv::cudart {

// Makes cudaErrorNotSupported the thread's last error (cudaErrorInsufficientDriver and the like where there
// is no driver), and returns it.
int refuse() noexcept;

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_REFUSED_HPP
