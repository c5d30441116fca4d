// The runtime API's own types, and the few of ours that every file needs.
#ifndef FAIRGV_CUDA_SHIM_CUDART_TYPES_HPP
#define FAIRGV_CUDA_SHIM_CUDART_TYPES_HPP

// The libraries export the functions that the toolkit's header declares.
#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#if CUDART_VERSION < 13000
#error "the runtime libraries are built with the headers of CUDA 13"
#endif

#define FAIRGV_EXPORT extern "C" __attribute__((visibility("default")))

namespace fairgv::cudart {

// The meaning of a null stream. Functions whose names end in _ptsz or _ptds mean the thread's own default
// stream (CUDA Runtime API, "API synchronization behavior").
enum class DefaultStream { kLegacy = 0, kPerThread = 1 };

// The release that the library is: 1000 * major + 10 * minor. Defined in abi_12.cpp and abi_13.cpp.
extern const unsigned int kRuntimeVersion;

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_TYPES_HPP
