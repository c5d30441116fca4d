// Channel formats of arrays: the runtime's description by bits and kind, and the driver's by format and
// channels.
#ifndef FAIRGV_CUDA_SHIM_CUDART_ARRAY_FORMAT_HPP
#define FAIRGV_CUDA_SHIM_CUDART_ARRAY_FORMAT_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// cudaErrorInvalidChannelDescriptor if `channels` is not a format of arrays.
Status driver_format(const cudaChannelFormatDesc& channels, CUarray_format& format, unsigned int& count);
// cudaErrorNotSupported for a format that the runtime API has no description of.
Status runtime_format(CUarray_format format, unsigned int count, cudaChannelFormatDesc& channels);
// Bytes of one element; 0 for compressed and planar formats, whose copies are not in elements.
std::size_t element_bytes(CUarray_format format, unsigned int count);

// The runtime's and the driver's array handles are the same objects.
inline CUarray driver_array(cudaArray_const_t array) {
  return std::bit_cast<CUarray>(array);
}
inline CUmipmappedArray driver_array(cudaMipmappedArray_const_t array) {
  return std::bit_cast<CUmipmappedArray>(array);
}

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_ARRAY_FORMAT_HPP
