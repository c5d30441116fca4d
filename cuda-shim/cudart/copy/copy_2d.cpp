// Copies of rows, between pitched memory and arrays.
#include <algorithm>

#include "cuda-shim/cudart/copy/copy.hpp"

namespace fairgv::cudart {
namespace {

Rows pitched(const void* memory, std::size_t pitch) {
  return {memory, pitch, nullptr, 0, 0};
}
Rows within(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return {nullptr, 0, array, x, y};
}

// Bytes in a row of an array; for memory, which has no rows here, the largest number.
Status row_bytes(const Driver& driver, const Rows& side, std::size_t& bytes) {
  bytes = static_cast<std::size_t>(-1);
  if (side.array == nullptr) return cudaSuccess;
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  FAIRGV_RETURN_IF_FAILED(driver.cuArray3DGetDescriptor(&descriptor, driver_array(side.array)));
  bytes = descriptor.Width * element_bytes(descriptor.Format, descriptor.NumChannels);
  return bytes != 0 ? cudaSuccess : cudaErrorNotSupported;
}

void advance(Rows& side, std::size_t bytes, std::size_t row) {
  if (side.array == nullptr) {
    side.memory = static_cast<const char*>(side.memory) + bytes;
    return;
  }
  side.x += bytes;
  if (side.x == row) {
    side.x = 0;
    ++side.y;
  }
}

// `count` bytes that run on from the end of an array's row to the beginning of the next (cudaMemcpyToArray
// and its kind, deprecated): as many copies as there are pieces of rows.
Status copy_running(const Driver& driver, Rows destination, Rows source, std::size_t count,
                    cudaMemcpyKind kind, Order order) {
  std::size_t destination_row = 0;
  std::size_t source_row = 0;
  FAIRGV_RETURN_IF_FAILED(row_bytes(driver, destination, destination_row));
  FAIRGV_RETURN_IF_FAILED(row_bytes(driver, source, source_row));
  if (destination.x >= destination_row || source.x >= source_row) return cudaErrorInvalidValue;
  while (count > 0) {
    const std::size_t piece = std::min({count, destination_row - destination.x, source_row - source.x});
    destination.pitch = piece;
    source.pitch = piece;
    FAIRGV_RETURN_IF_FAILED(copy_rows(driver, destination, source, piece, 1, kind, order));
    advance(destination, piece, destination_row);
    advance(source, piece, source_row);
    count -= piece;
  }
  return cudaSuccess;
}

}  // namespace

Status copy_rows(const Driver& driver, const Rows& destination, const Rows& source, std::size_t width,
                 std::size_t height, cudaMemcpyKind kind, Order order) {
  Direction direction{};
  FAIRGV_RETURN_IF_FAILED(direction_of(kind, direction));
  const bool from_memory = source.array == nullptr;
  const bool to_memory = destination.array == nullptr;
  if ((from_memory && source.pitch < width) || (to_memory && destination.pitch < width))
    return cudaErrorInvalidPitchValue;
  if (width == 0 || height == 0) return cudaSuccess;
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = from_memory ? direction.source : CU_MEMORYTYPE_ARRAY;
  copy.srcHost = source.memory;
  copy.srcDevice = std::bit_cast<CUdeviceptr>(source.memory);
  copy.srcArray = driver_array(source.array);
  copy.srcPitch = from_memory ? source.pitch : 0;
  copy.srcXInBytes = source.x;
  copy.srcY = source.y;
  copy.dstMemoryType = to_memory ? direction.destination : CU_MEMORYTYPE_ARRAY;
  copy.dstHost = std::bit_cast<void*>(destination.memory);
  copy.dstDevice = std::bit_cast<CUdeviceptr>(destination.memory);
  copy.dstArray = driver_array(destination.array);
  copy.dstPitch = to_memory ? destination.pitch : 0;
  copy.dstXInBytes = destination.x;
  copy.dstY = destination.y;
  copy.WidthInBytes = width;
  copy.Height = height;
  return order.async ? driver.cuMemcpy2DAsync(&copy, order.stream) : driver.cuMemcpy2DUnaligned(&copy);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2D, _ptds,
                   (void* destination, std::size_t destination_pitch, const void* source,
                    std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind),
                   (destination, destination_pitch, source, source_pitch, width, height, kind)) {
  return copy_rows(driver, pitched(destination, destination_pitch), pitched(source, source_pitch), width,
                   height, kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2DAsync, _ptsz,
                   (void* destination, std::size_t destination_pitch, const void* source,
                    std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream),
                   (destination, destination_pitch, source, source_pitch, width, height, kind, stream)) {
  return copy_rows(driver, pitched(destination, destination_pitch), pitched(source, source_pitch), width,
                   height, kind, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2DToArray, _ptds,
                   (cudaArray_t destination, std::size_t x, std::size_t y, const void* source,
                    std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind),
                   (destination, x, y, source, pitch, width, height, kind)) {
  return copy_rows(driver, within(destination, x, y), pitched(source, pitch), width, height, kind,
                   kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2DToArrayAsync, _ptsz,
                   (cudaArray_t destination, std::size_t x, std::size_t y, const void* source,
                    std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream),
                   (destination, x, y, source, pitch, width, height, kind, stream)) {
  return copy_rows(driver, within(destination, x, y), pitched(source, pitch), width, height, kind,
                   in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2DFromArray, _ptds,
                   (void* destination, std::size_t pitch, cudaArray_const_t source, std::size_t x,
                    std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind),
                   (destination, pitch, source, x, y, width, height, kind)) {
  return copy_rows(driver, pitched(destination, pitch), within(source, x, y), width, height, kind,
                   kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2DFromArrayAsync, _ptsz,
                   (void* destination, std::size_t pitch, cudaArray_const_t source, std::size_t x,
                    std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream),
                   (destination, pitch, source, x, y, width, height, kind, stream)) {
  return copy_rows(driver, pitched(destination, pitch), within(source, x, y), width, height, kind,
                   in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy2DArrayToArray, _ptds,
                   (cudaArray_t destination, std::size_t to_x, std::size_t to_y, cudaArray_const_t source,
                    std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                    cudaMemcpyKind kind),
                   (destination, to_x, to_y, source, from_x, from_y, width, height, kind)) {
  return copy_rows(driver, within(destination, to_x, to_y), within(source, from_x, from_y), width, height,
                   kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyToArray, _ptds,
                   (cudaArray_t destination, std::size_t x, std::size_t y, const void* source,
                    std::size_t count, cudaMemcpyKind kind),
                   (destination, x, y, source, count, kind)) {
  return copy_running(driver, within(destination, x, y), pitched(source, 0), count, kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyToArrayAsync, _ptsz,
                   (cudaArray_t destination, std::size_t x, std::size_t y, const void* source,
                    std::size_t count, cudaMemcpyKind kind, cudaStream_t stream),
                   (destination, x, y, source, count, kind, stream)) {
  return copy_running(driver, within(destination, x, y), pitched(source, 0), count, kind, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyFromArray, _ptds,
                   (void* destination, cudaArray_const_t source, std::size_t x, std::size_t y,
                    std::size_t count, cudaMemcpyKind kind),
                   (destination, source, x, y, count, kind)) {
  return copy_running(driver, pitched(destination, 0), within(source, x, y), count, kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyFromArrayAsync, _ptsz,
                   (void* destination, cudaArray_const_t source, std::size_t x, std::size_t y,
                    std::size_t count, cudaMemcpyKind kind, cudaStream_t stream),
                   (destination, source, x, y, count, kind, stream)) {
  return copy_running(driver, pitched(destination, 0), within(source, x, y), count, kind, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyArrayToArray, _ptds,
                   (cudaArray_t destination, std::size_t to_x, std::size_t to_y, cudaArray_const_t source,
                    std::size_t from_x, std::size_t from_y, std::size_t count, cudaMemcpyKind kind),
                   (destination, to_x, to_y, source, from_x, from_y, count, kind)) {
  return copy_running(driver, within(destination, to_x, to_y), within(source, from_x, from_y), count, kind,
                      kSynchronous);
}

}  // namespace fairgv::cudart
