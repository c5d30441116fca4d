#include "cuda-shim/api/memory/texture.hpp"
#include "cuda-shim/api/memory/mapped.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/memory/copy.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"

namespace fairgv::cuda {
namespace {

/// The number in an enumeration, into which a program may have put any value.
template <typename Enumeration>
unsigned number_of(const Enumeration& value) {
  unsigned number = 0;
  static_assert(sizeof value == sizeof number);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// The formats of views, three by three: with one, two and four channels.
constexpr CUarray_format kViewFormats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
                                           CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
                                           CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                           CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

TexelFormat format_of_view(CUresourceViewFormat format) {
  constexpr unsigned kChannels[] = {1, 2, 4};
  const auto number = static_cast<unsigned>(format) - CU_RES_VIEW_FORMAT_UINT_1X8;
  return {kViewFormats[number / 3], kChannels[number % 3]};
}

TexelFormat format_of_memory(const TextureObject& object) {
  switch (object.resource.resType) {
    case CU_RESOURCE_TYPE_LINEAR:
      return {object.resource.res.linear.format, object.resource.res.linear.numChannels};
    case CU_RESOURCE_TYPE_PITCH2D:
      return {object.resource.res.pitch2D.format, object.resource.res.pitch2D.numChannels};
    default:
      return {object.array->description.Format, object.array->description.NumChannels};
  }
}

CUresult check_array(const Driver& driver, TextureObject& object) {
  object.array = driver.arrays.find(object.resource.res.array.hArray);
  return object.array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_mipmap(const Driver& driver, TextureObject& object) {
  object.mipmap = driver.mipmaps.find(object.resource.res.mipmap.hMipmappedArray);
  if (!object.mipmap) return CUDA_ERROR_INVALID_VALUE;
  object.array = object.mipmap->levels.front();
  // Levels have no coordinates in common but normalised ones ("cuTexObjectCreate").
  const bool normalized = (object.sampling.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  return normalized ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Memory of `size` bytes at an address that textures can be read from.
CUresult check_memory(const Driver& driver, const Context& context, CUdeviceptr address, std::size_t size,
                      TextureObject& object) {
  const auto alignment = static_cast<CUdeviceptr>(
      std::max(1, driver.engine.attribute(context.device(), CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)));
  if (address == 0 || size == 0 || address % alignment != 0) return CUDA_ERROR_INVALID_VALUE;
  Place place;
  if (const CUresult code = device_place(driver, address, size, place); code != CUDA_SUCCESS) return code;
  return device_address(driver, context, *place.allocation, address, object.address);
}

bool exceeds(const Driver& driver, const Context& context, std::size_t value, CUdevice_attribute most) {
  return value > static_cast<std::size_t>(std::max(0, driver.engine.attribute(context.device(), most)));
}

CUresult check_linear(const Driver& driver, const Context& context, TextureObject& object) {
  const auto& linear = object.resource.res.linear;
  const TexelFormat format{linear.format, linear.numChannels};
  if (!is_stored(format)) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t elements = linear.sizeInBytes / format.bytes();
  if (elements == 0 ||
      exceeds(driver, context, elements, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return check_memory(driver, context, linear.devPtr, linear.sizeInBytes, object);
}

CUresult check_pitched(const Driver& driver, const Context& context, TextureObject& object) {
  const auto& pitched = object.resource.res.pitch2D;
  const TexelFormat format{pitched.format, pitched.numChannels};
  if (!is_stored(format) || pitched.width == 0 || pitched.height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (exceeds(driver, context, pitched.width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
      exceeds(driver, context, pitched.height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
      exceeds(driver, context, pitched.pitchInBytes, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto alignment = static_cast<std::size_t>(
      std::max(1, driver.engine.attribute(context.device(), CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)));
  const std::size_t row = pitched.width * format.bytes();
  if (pitched.pitchInBytes < row || pitched.pitchInBytes % alignment != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto size = span_of({row, pitched.height, 1}, pitched.pitchInBytes, 0);
  return size ? check_memory(driver, context, pitched.devPtr, *size, object) : CUDA_ERROR_INVALID_VALUE;
}

/// Another reading of an array: of the same extents, and of elements of the same size.
CUresult check_view(const TextureObject& object) {
  if (!object.array) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_RESOURCE_VIEW_DESC& view = *object.view;
  const CUDA_ARRAY3D_DESCRIPTOR& array = object.array->description;
  if (number_of(view.format) > CU_RES_VIEW_FORMAT_UNSIGNED_BC7) return CUDA_ERROR_INVALID_VALUE;
  if (view.format > CU_RES_VIEW_FORMAT_FLOAT_4X32) return CUDA_ERROR_NOT_SUPPORTED;  // block-compressed
  if (view.format != CU_RES_VIEW_FORMAT_NONE &&
      format_of_view(view.format).bytes() != object.array->element_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::size_t levels = object.mipmap ? object.mipmap->levels.size() : 1;
  if (view.width != array.Width || view.height != array.Height || view.depth != array.Depth ||
      view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= levels) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool layered = (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const bool layers_fit = layered ? view.firstLayer <= view.lastLayer && view.lastLayer < array.Depth
                                  : view.firstLayer == 0 && view.lastLayer == 0;
  return layers_fit ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_sampling(const TextureObject& object) {
  constexpr unsigned kKnown = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                              CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  const CUDA_TEXTURE_DESC& sampling = object.sampling;
  const auto is_mode = [](const CUaddress_mode& mode) {
    return number_of(mode) <= CU_TR_ADDRESS_MODE_BORDER;
  };
  const bool known = std::all_of(std::begin(sampling.addressMode), std::end(sampling.addressMode), is_mode) &&
                     number_of(sampling.filterMode) <= CU_TR_FILTER_MODE_LINEAR &&
                     number_of(sampling.mipmapFilterMode) <= CU_TR_FILTER_MODE_LINEAR &&
                     (sampling.flags & ~kKnown) == 0;
  if (!known) return CUDA_ERROR_INVALID_VALUE;
  const bool cubemap = object.array && (object.array->description.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  if ((sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 && !cubemap) return CUDA_ERROR_INVALID_VALUE;
  // Linear memory is never filtered.
  const bool filtered = (sampling.filterMode == CU_TR_FILTER_MODE_LINEAR &&
                         object.resource.resType != CU_RESOURCE_TYPE_LINEAR) ||
                        (sampling.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR && object.mipmap);
  return filtered && !reads_float(object) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

std::size_t TexelFormat::channel_bytes() const {
  return wire::cuda::channel_bytes(format);
}

bool TexelFormat::is_normalized() const {
  return wire::cuda::channels_of(format) != 0;
}

bool is_stored(const TexelFormat& format) {
  const bool count = format.channels == 1 || format.channels == 2 || format.channels == 4;
  const unsigned own = wire::cuda::channels_of(format.format);
  return count && format.channel_bytes() != 0 && (own == 0 || own == format.channels);
}

TexelFormat format_of(const TextureObject& object) {
  if (object.view && object.view->format != CU_RES_VIEW_FORMAT_NONE)
    return format_of_view(object.view->format);
  return format_of_memory(object);
}

bool reads_float(const TextureObject& object) {
  const TexelFormat format = format_of(object);
  if (format.is_float() || format.is_normalized()) return true;
  return format.channel_bytes() < 4 && (object.sampling.flags & CU_TRSF_READ_AS_INTEGER) == 0;
}

CUresult check_texture(const Driver& driver, const Context& context, TextureObject& object) {
  if (object.resource.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult code = CUDA_ERROR_INVALID_VALUE;
  switch (number_of(object.resource.resType)) {
    case CU_RESOURCE_TYPE_ARRAY:
      code = check_array(driver, object);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      code = check_mipmap(driver, object);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      code = check_linear(driver, context, object);
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      code = check_pitched(driver, context, object);
      break;
    default:
      break;
  }
  if (code == CUDA_SUCCESS && object.view) code = check_view(object);
  return code == CUDA_SUCCESS ? check_sampling(object) : code;
}

CUresult check_surface(const Driver& driver, TextureObject& object) {
  if (object.resource.flags != 0 || number_of(object.resource.resType) != CU_RESOURCE_TYPE_ARRAY)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = check_array(driver, object); code != CUDA_SUCCESS) return code;
  const bool made_for_it = (object.array->description.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
  return made_for_it ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace fairgv::cuda
