// Converts between the structures by which programs describe copies and the sides of a copy.
#pragma once

#include "cuda-shim/api/memory/copy.hpp"

namespace fairgv::cuda {

/// The fields have the same names in all three structures; only the first lacks the third dimension.
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

/// The memory that a description means at this moment. An extent of nothing has no places.
template <typename Parameters>
CUresult find_places(Driver& driver, const Parameters& p, Place& to, Place& from, Extent& extent) {
  extent = {p.WidthInBytes, p.Height, 1};
  if constexpr (requires { p.Depth; }) {
    extent.depth = p.Depth;
    if (p.srcLOD != 0 || p.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  }
  if (is_empty(extent)) return CUDA_SUCCESS;
  const CUresult code = pitched_place(driver, target_of(p), extent, to);
  return code == CUDA_SUCCESS ? pitched_place(driver, source_of(p), extent, from) : code;
}

/// The description of a copy between places.
CUDA_MEMCPY3D describe_copy(const Place& to, const Place& from, const Extent& extent);

}  // namespace fairgv::cuda
