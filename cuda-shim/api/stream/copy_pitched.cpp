// Entry points: copies of two and three dimensions (CUDA Driver API, "cuMemcpy2D", "cuMemcpy3D"). Compiled
// twice: stream_entry.hpp.
#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/memory/copy_sides.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

template <typename Parameters>
CUresult pitched_copy(const Parameters* parameters, CUstream handle, bool async) noexcept {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyCommand command;
    command.async = async;
    const CUresult code = find_places(driver, *parameters, command.to, command.from, command.extent);
    return code == CUDA_SUCCESS && !is_empty(command.extent) ? put(driver, stream, std::move(command)) : code;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D* parameters) {
  return pitched_copy(parameters, nullptr, false);
}
CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* parameters) {
  return pitched_copy(parameters, nullptr, false);
}
CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D* parameters, CUstream stream) {
  return pitched_copy(parameters, stream, true);
}
CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D* parameters) {
  return pitched_copy(parameters, nullptr, false);
}
CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D* parameters, CUstream stream) {
  return pitched_copy(parameters, stream, true);
}
CUresult CUDAAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* parameters) {
  return pitched_copy(parameters, nullptr, false);
}
CUresult CUDAAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* parameters, CUstream stream) {
  return pitched_copy(parameters, stream, true);
}

}  // extern "C"
}  // namespace fairgv::cuda
