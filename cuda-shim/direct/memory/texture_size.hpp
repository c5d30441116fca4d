// The bytes of an array, from its description.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda-shim/direct/cuda.hpp"

namespace fairgv::cuda::direct {

constexpr std::uint64_t element_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    default:
      return 4;  // and the most that compressed and normalised formats take
  }
}

template <class Description>
std::uint64_t depth_of(const Description& description) {
  if constexpr (requires { description.Depth; }) {
    return description.Depth;
  } else {
    return 1;
  }
}

/// Whether depth counts layers or faces, which every level has.
template <class Description>
bool has_layers(const Description& description) {
  if constexpr (requires { description.Flags; }) {
    return (description.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  } else {
    return false;
  }
}

/// Of all levels of a mipmap; one level: of the array. Dimensions that are zero do not count.
template <class Description>
std::uint64_t bytes_of(const Description& description, unsigned int levels) {
  const std::uint64_t element = element_bytes(description.Format) * std::max(description.NumChannels, 1U);
  std::uint64_t width = description.Width, height = description.Height, depth = depth_of(description),
                bytes = 0;
  // No array has more levels than its sizes have bits.
  for (unsigned int level = 0; level < std::min(levels, 64U); ++level) {
    const auto times = [](std::uint64_t a, std::uint64_t b) {
      std::uint64_t product = 0;
      return __builtin_mul_overflow(a, std::max<std::uint64_t>(b, 1), &product) ? ~std::uint64_t{0} : product;
    };
    const std::uint64_t its = times(times(times(element, width), height), depth);
    if (__builtin_add_overflow(bytes, its, &bytes)) return ~std::uint64_t{0};
    width /= 2;
    height /= 2;
    if (!has_layers(description)) depth /= 2;
  }
  return bytes;
}

}  // namespace fairgv::cuda::direct
