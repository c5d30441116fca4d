// The attributes of an address (CUDA Runtime API, "Unified Addressing"); both releases' structures are made
// from them.
#ifndef FAIRGV_CUDA_SHIM_CUDART_POINTER_ATTRIBUTES_HPP
#define FAIRGV_CUDA_SHIM_CUDART_POINTER_ATTRIBUTES_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// The layout of CUDA 12's cudaPointerAttributes, with which CUDA 13's begins.
struct PointerAttributes {
  cudaMemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

Status pointer_attributes(const Driver& driver, const void* pointer, PointerAttributes& attributes);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_POINTER_ATTRIBUTES_HPP
