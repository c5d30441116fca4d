// Entry points: copies of two and three dimensions (CUDA Driver API, "cuMemcpy2D", "cuMemcpy3D"). Compiled
// twice: stream_entry.hpp.
#include "copy.hpp"
#include "stream_entry.hpp"

namespace fairgv::cuda {
namespace {

/// The fields have the same names in all three structures; only the third dimension is not in the first.
template <typename Parameters>
PitchedSide source_of(const Parameters& p) {
  PitchedSide side{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcPitch, 0, p.srcXInBytes,
                   p.srcY,          0};
  if constexpr (requires { p.srcZ; }) {
    side.height = p.srcHeight;
    side.z = p.srcZ;
  }
  return side;
}

template <typename Parameters>
PitchedSide target_of(const Parameters& p) {
  PitchedSide side{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, 0, p.dstXInBytes,
                   p.dstY,          0};
  if constexpr (requires { p.dstZ; }) {
    side.height = p.dstHeight;
    side.z = p.dstZ;
  }
  return side;
}

template <typename Parameters>
CUresult pitched_copy(const Parameters* parameters, CUstream handle, bool async) noexcept {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Extent extent{parameters->WidthInBytes, parameters->Height, 1};
    if constexpr (requires { parameters->Depth; }) {
      extent.depth = parameters->Depth;
      if (parameters->srcLOD != 0 || parameters->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
    }
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return CUDA_SUCCESS;
    Place to;
    Place from;
    CUresult code = pitched_place(driver, target_of(*parameters), extent, to);
    if (code == CUDA_SUCCESS) code = pitched_place(driver, source_of(*parameters), extent, from);
    return code == CUDA_SUCCESS ? copy(driver, stream, to, from, extent, async) : code;
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
