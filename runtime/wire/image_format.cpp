#include "runtime/wire/image_format.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <limits>

namespace fairgv::wire {
namespace {

/// Channels that an element of this order has in memory; 0 for an unknown order.
std::uint64_t channels_of(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_Rx:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
      return 1;
    case CL_RG:
    case CL_RA:
    case CL_RGx:
      return 2;
    case CL_sRGB:
    case CL_sRGBx:
      return 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
    case CL_sRGBA:
    case CL_sBGRA:
      return 4;
    default:
      return 0;
  }
}

/// Bytes of one channel; 0 for types that pack all channels into one number.
std::uint64_t channel_bytes(cl_channel_type type) {
  switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return 1;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
      return 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
      return 4;
    default:
      return 0;
  }
}

/// Bytes of an element whose channels are packed into one number; 0 if the pair is none of those.
std::uint64_t packed_bytes(cl_channel_order order, cl_channel_type type) {
  const bool three = order == CL_RGB || order == CL_RGBx;
  switch (type) {
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
      return three ? 2 : 0;
    case CL_UNORM_INT_101010:
      return three ? 4 : 0;
    case CL_UNORM_INT_101010_2:
      return order == CL_RGBA ? 4 : 0;
    default:
      return 0;
  }
}

bool is_normalized_or_float(cl_channel_type type) {
  return type == CL_UNORM_INT8 || type == CL_UNORM_INT16 || type == CL_SNORM_INT8 || type == CL_SNORM_INT16 ||
         type == CL_HALF_FLOAT || type == CL_FLOAT;
}

/// Whether the order may have the (unpacked) type.
bool fit(cl_channel_order order, cl_channel_type type) {
  switch (order) {
    case CL_INTENSITY:
    case CL_LUMINANCE:
      return is_normalized_or_float(type);
    case CL_DEPTH:
      return type == CL_UNORM_INT16 || type == CL_FLOAT;
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
      return channel_bytes(type) == 1;
    case CL_sRGB:
    case CL_sRGBx:
    case CL_sRGBA:
    case CL_sBGRA:
      return type == CL_UNORM_INT8;
    default:
      return true;
  }
}

}  // namespace

std::uint64_t element_bytes(std::uint32_t channel_order, std::uint32_t channel_type) {
  if (const std::uint64_t packed = packed_bytes(channel_order, channel_type)) return packed;
  if (!fit(channel_order, channel_type)) return 0;
  return channels_of(channel_order) * channel_bytes(channel_type);
}

std::uint64_t image_bytes(const ImageDescription& image) {
  std::uint64_t bytes = element_bytes(image.channel_order, image.channel_type);
  for (const std::uint64_t size : {image.width, image.height, image.depth, image.array_size}) {
    if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(size, 1), &bytes)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return bytes;
}

}  // namespace fairgv::wire
