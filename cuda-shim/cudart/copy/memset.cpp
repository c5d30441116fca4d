// Filling memory (CUDA Runtime API, "Memory Management"). All of these may return before the device has done
// it.
#include "cuda-shim/cudart/copy/copy.hpp"

namespace fairgv::cudart {
namespace {

CUdeviceptr start_of(void* memory) {
  return std::bit_cast<CUdeviceptr>(memory);
}

Status fill(const Driver& driver, void* memory, int value, std::size_t count, Order order) {
  if (count == 0) return cudaSuccess;
  const auto byte = static_cast<unsigned char>(value);
  return order.async ? driver.cuMemsetD8Async(start_of(memory), byte, count, order.stream)
                     : driver.cuMemsetD8(start_of(memory), byte, count);
}

Status fill_rows(const Driver& driver, void* memory, std::size_t pitch, int value, std::size_t width,
                 std::size_t height, Order order) {
  const auto byte = static_cast<unsigned char>(value);
  if (height > 1 && pitch < width) return cudaErrorInvalidPitchValue;
  if (width == 0 || height == 0) return cudaSuccess;
  return order.async ? driver.cuMemsetD2D8Async(start_of(memory), pitch, byte, width, height, order.stream)
                     : driver.cuMemsetD2D8(start_of(memory), pitch, byte, width, height);
}

Status fill_box(const Driver& driver, cudaPitchedPtr memory, int value, cudaExtent extent, Order order) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (extent.width > memory.pitch) return cudaErrorInvalidPitchValue;
  // Slices without a gap between them are one range of rows.
  if (extent.depth == 1 || memory.ysize == extent.height)
    return fill_rows(driver, memory.ptr, memory.pitch, value, extent.width, extent.height * extent.depth,
                     order);
  if (extent.height > memory.ysize) return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    void* const slice = static_cast<char*>(memory.ptr) + z * memory.pitch * memory.ysize;
    FAIRGV_RETURN_IF_FAILED(
        fill_rows(driver, slice, memory.pitch, value, extent.width, extent.height, order));
  }
  return cudaSuccess;
}

}  // namespace

FAIRGV_STREAM_CALL(kContext, cudaMemset, _ptds, (void* memory, int value, std::size_t count),
                   (memory, value, count)) {
  return fill(driver, memory, value, count, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemsetAsync, _ptsz,
                   (void* memory, int value, std::size_t count, cudaStream_t stream),
                   (memory, value, count, stream)) {
  return fill(driver, memory, value, count, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemset2D, _ptds,
                   (void* memory, std::size_t pitch, int value, std::size_t width, std::size_t height),
                   (memory, pitch, value, width, height)) {
  return fill_rows(driver, memory, pitch, value, width, height, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemset2DAsync, _ptsz,
                   (void* memory, std::size_t pitch, int value, std::size_t width, std::size_t height,
                    cudaStream_t stream),
                   (memory, pitch, value, width, height, stream)) {
  return fill_rows(driver, memory, pitch, value, width, height, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemset3D, _ptds, (cudaPitchedPtr memory, int value, cudaExtent extent),
                   (memory, value, extent)) {
  return fill_box(driver, memory, value, extent, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemset3DAsync, _ptsz,
                   (cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream),
                   (memory, value, extent, stream)) {
  return fill_box(driver, memory, value, extent, in_stream(stream));
}

}  // namespace fairgv::cudart
