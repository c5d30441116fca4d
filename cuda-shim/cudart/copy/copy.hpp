// Copies (CUDA Runtime API, "Memory Management"): shared by the entry points of copy*.cpp and the graph
// nodes.
#ifndef FAIRGV_CUDA_SHIM_CUDART_COPY_HPP
#define FAIRGV_CUDA_SHIM_CUDART_COPY_HPP

#include "cuda-shim/cudart/copy/array_format.hpp"

namespace fairgv::cudart {

// Whether a copy returns before it has happened, and in which stream it happens.
struct Order {
  bool async = false;
  cudaStream_t stream = nullptr;
};

inline constexpr Order kSynchronous{};
constexpr Order in_stream(cudaStream_t stream) {
  return {true, stream};
}

// Where the two sides lie, as the program says. With cudaMemcpyDefault the driver finds out from the
// addresses.
struct Direction {
  CUmemorytype source;
  CUmemorytype destination;
};
Status direction_of(cudaMemcpyKind kind, Direction& direction);

// `count` bytes between two linear ranges.
Status copy_linear(const Driver& driver, void* destination, const void* source, std::size_t count,
                   cudaMemcpyKind kind, Order order);

// One side of a copy of rows: pitched memory, or an array with the position in bytes and rows.
struct Rows {
  const void* memory = nullptr;
  std::size_t pitch = 0;
  cudaArray_const_t array = nullptr;
  std::size_t x = 0;
  std::size_t y = 0;
};
Status copy_rows(const Driver& driver, const Rows& destination, const Rows& source, std::size_t width,
                 std::size_t height, cudaMemcpyKind kind, Order order);

// The driver's description of a three-dimensional copy. The runtime counts in elements where an array takes
// part.
Status describe_copy(const Driver& driver, const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D& described);
// And back again, as cudaGraphMemcpyNodeGetParams gives it.
Status describe_copy(const Driver& driver, const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms& described);

// Bytes of one element of the array.
Status array_element_bytes(const Driver& driver, cudaArray_const_t array, std::size_t& bytes);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_COPY_HPP
