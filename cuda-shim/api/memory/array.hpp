// The shapes that arrays and mipmapped arrays may have, and how their elements are counted (CUDA Driver API,
// "cuArray3DCreate", "cuMipmappedArrayCreate").
#pragma once

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {

/// Whether the context's device can have the array, or the mipmapped array of which it is the first level.
CUresult check_array(const Driver& driver, const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& wish,
                     bool mipmapped);

/// Fills in what follows from a checked description. False: the array has more bytes than can be counted.
bool lay_out(Array& array);

/// The number of levels that a mipmapped array gets.
unsigned levels_of(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned wished);
/// The level `level` as an array.
CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned level);

}  // namespace fairgv::cuda
