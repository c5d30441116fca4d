// Entry points: memsets (CUDA Driver API, "cuMemsetD8" and its kin). Compiled twice: stream_entry.hpp. No
// memset waits: on device memory not even the synchronous ones do ("API synchronization behavior").
#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult fill_in(CUstream handle, const Fill& wish, bool async) noexcept {
  return on_stream(handle, [&](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    return put(driver, stream, FillCommand{wish, async});
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_in(nullptr, {to, 0, value, 1, count, 1}, false);
}
CUresult CUDAAPI cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill_in(nullptr, {to, 0, value, 2, count, 1}, false);
}
CUresult CUDAAPI cuMemsetD32(CUdeviceptr to, unsigned int value, std::size_t count) {
  return fill_in(nullptr, {to, 0, value, 4, count, 1}, false);
}
CUresult CUDAAPI cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                              std::size_t height) {
  return fill_in(nullptr, {to, pitch, value, 1, width, height}, false);
}
CUresult CUDAAPI cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                               std::size_t height) {
  return fill_in(nullptr, {to, pitch, value, 2, width, height}, false);
}
CUresult CUDAAPI cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                               std::size_t height) {
  return fill_in(nullptr, {to, pitch, value, 4, width, height}, false);
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill_in(stream, {to, 0, value, 1, count, 1}, true);
}
CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return fill_in(stream, {to, 0, value, 2, count, 1}, true);
}
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return fill_in(stream, {to, 0, value, 4, count, 1}, true);
}
CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                                   std::size_t height, CUstream stream) {
  return fill_in(stream, {to, pitch, value, 1, width, height}, true);
}
CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                    std::size_t width, std::size_t height, CUstream stream) {
  return fill_in(stream, {to, pitch, value, 2, width, height}, true);
}
CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                                    std::size_t height, CUstream stream) {
  return fill_in(stream, {to, pitch, value, 4, width, height}, true);
}

}  // extern "C"
}  // namespace fairgv::cuda
