// Entry points: arrays (CUDA Driver API, "cuArrayCreate" and its kin).
#include <algorithm>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/memory/texture.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

/// The largest extents of a kind of array, as attributes of the device; CU_DEVICE_ATTRIBUTE_MAX: 1.
struct Limits {
  CUdevice_attribute width, height, depth;
};
constexpr CUdevice_attribute kNone = CU_DEVICE_ATTRIBUTE_MAX;

Limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR& wish) {
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
  if (wish.Height == 0) return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, kNone, kNone};
  if ((wish.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) {
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, kNone};
  }
  return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, kNone};
}

/// Extents that fit each other and the flags ("cuArray3DCreate" has the table).
bool is_possible(const Driver& driver, const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& wish) {
  const bool layered = (wish.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if (wish.Width == 0) return false;
  if ((layered || wish.Depth != 0) && (wish.Depth == 0 || (!layered && wish.Height == 0))) return false;
  if ((wish.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    if (wish.Width != wish.Height || wish.Depth % 6 != 0 || (!layered && wish.Depth != 6)) return false;
  }
  const bool is_2d = wish.Height != 0 && wish.Depth == 0;
  if ((wish.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0 && !is_2d) return false;
  const Limits most = limits_of(wish);
  const auto fits = [&](std::size_t extent, CUdevice_attribute limit) {
    const int value = limit == kNone ? 1 : driver.engine.attribute(context.device(), limit);
    return extent <= static_cast<std::size_t>(std::max(0, value));
  };
  return fits(wish.Width, most.width) && fits(wish.Height, most.height) && fits(wish.Depth, most.depth);
}

CUresult create(Driver& driver, Context& context, CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& wish) {
  constexpr unsigned kServed =
      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  const TexelFormat format{wish.Format, wish.NumChannels};
  const std::size_t element = format.bytes();
  const bool channels = wish.NumChannels == 1 || wish.NumChannels == 2 || wish.NumChannels == 4;
  if (handle == nullptr || !channels) return CUDA_ERROR_INVALID_VALUE;
  if (element == 0 || (wish.Flags & ~kServed) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!is_stored(format) || !is_possible(driver, context, wish)) return CUDA_ERROR_INVALID_VALUE;
  auto array = std::make_shared<Array>();
  array->owner = context.handle();
  array->description = wish;
  array->element_bytes = element;
  array->rows = std::max<std::size_t>(1, wish.Height);
  array->layers = std::max<std::size_t>(1, wish.Depth);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(wish.Width, element, &array->row_bytes) ||
      __builtin_mul_overflow(array->row_bytes, array->rows, &bytes) ||
      __builtin_mul_overflow(bytes, array->layers, &bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult code = driver.engine.make_array(context, bytes, *array); code != CUDA_SUCCESS)
    return code;
  *handle = reinterpret_cast<CUarray>(driver.arrays.add(std::move(array)));
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuArrayCreate(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* wish) {
  return in_context([=](Driver& driver, Context& context) {
    if (wish == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return create(driver, context, handle,
                  {wish->Width, wish->Height, 0, wish->Format, wish->NumChannels, 0});
  });
}

CUresult CUDAAPI cuArray3DCreate(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* wish) {
  return in_context([=](Driver& driver, Context& context) {
    return wish == nullptr ? CUDA_ERROR_INVALID_VALUE : create(driver, context, handle, *wish);
  });
}

CUresult CUDAAPI cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray handle) {
  return in_context([=](Driver& driver, Context&) {
    const auto array = driver.arrays.find(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR& full = array->description;
    *description = {full.Width, full.Height, full.Format, full.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray handle) {
  return in_context([=](Driver& driver, Context&) {
    const auto array = driver.arrays.find(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *description = array->description;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuArrayDestroy(CUarray handle) {
  return in_any_context([=](Driver& driver, Context& context) {
    const auto array = driver.arrays.take(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.synchronize(*context.group());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
