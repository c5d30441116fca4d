#include "cuda-shim/api/memory/array.hpp"

#include <algorithm>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/memory/texture.hpp"
#include "runtime/wire/calls/cuda/levels.hpp"

namespace fairgv::cuda {
namespace {

/// The largest extents of a kind of array, as attributes of the device; CU_DEVICE_ATTRIBUTE_MAX: 1.
struct Limits {
  CUdevice_attribute width, height, depth;
};
constexpr CUdevice_attribute kNone = CU_DEVICE_ATTRIBUTE_MAX;

/// `mipmapped`: it may have other levels than the first.
Limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR& wish, bool mipmapped) {
  const bool layered = (wish.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if ((wish.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    if (!layered) {
      return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
              CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
              CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH};
    }
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS};
  }
  if (layered && wish.Height == 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, kNone,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS};
  }
  if (layered) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS};
  }
  if (wish.Depth != 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH};
  }
  if (wish.Height == 0) {
    return {mipmapped ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
                      : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH,
            kNone, kNone};
  }
  if ((wish.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, kNone};
  }
  if (mipmapped) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, kNone};
  }
  return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, kNone};
}

/// Extents that fit each other and the flags ("cuArray3DCreate" has the table).
bool is_possible(const Driver& driver, const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& wish,
                 bool mipmapped) {
  const bool layered = (wish.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if (wish.Width == 0) return false;
  if ((layered || wish.Depth != 0) && (wish.Depth == 0 || (!layered && wish.Height == 0))) return false;
  if ((wish.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    if (wish.Width != wish.Height || wish.Depth % 6 != 0 || (!layered && wish.Depth != 6)) return false;
  }
  const bool is_2d = wish.Height != 0 && wish.Depth == 0;
  if ((wish.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0 && !is_2d) return false;
  const Limits most = limits_of(wish, mipmapped);
  const auto fits = [&](std::size_t extent, CUdevice_attribute limit) {
    const int value = limit == kNone ? 1 : driver.engine.attribute(context.device(), limit);
    return extent <= static_cast<std::size_t>(std::max(0, value));
  };
  return fits(wish.Width, most.width) && fits(wish.Height, most.height) && fits(wish.Depth, most.depth);
}

wire::cuda::ArrayExtents extents_of(const CUDA_ARRAY3D_DESCRIPTOR& description) {
  return {description.Width, description.Height, description.Depth};
}

bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR& description) {
  return (description.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

}  // namespace

CUresult check_array(const Driver& driver, const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& wish,
                     bool mipmapped) {
  constexpr unsigned kServed =
      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  const TexelFormat format{wish.Format, wish.NumChannels};
  if (wish.NumChannels != 1 && wish.NumChannels != 2 && wish.NumChannels != 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (format.bytes() == 0 || (wish.Flags & ~kServed) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const bool fits = is_stored(format) && is_possible(driver, context, wish, mipmapped);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool lay_out(Array& array) {
  const CUDA_ARRAY3D_DESCRIPTOR& description = array.description;
  array.element_bytes = TexelFormat{description.Format, description.NumChannels}.bytes();
  array.rows = std::max<std::size_t>(1, description.Height);
  array.layers = std::max<std::size_t>(1, description.Depth);
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(description.Width, array.element_bytes, &array.row_bytes) &&
         !__builtin_mul_overflow(array.row_bytes, array.rows, &bytes) &&
         !__builtin_mul_overflow(bytes, array.layers, &bytes);
}

unsigned levels_of(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned wished) {
  return std::clamp(wished, 1U, wire::cuda::most_levels(extents_of(first), has_layers(first)));
}

CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR& first, unsigned level) {
  const auto extents = wire::cuda::level_extents(extents_of(first), has_layers(first), level);
  CUDA_ARRAY3D_DESCRIPTOR description = first;
  description.Width = extents.width;
  description.Height = extents.height;
  description.Depth = extents.depth;
  return description;
}

}  // namespace fairgv::cuda
