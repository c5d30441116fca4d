// Entry points: arrays (CUDA Driver API, "cuArrayCreate" and its kin), as plain storage for copies.
#include <algorithm>

#include "entry.hpp"
#include "objects.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"

namespace fairgv::cuda {
namespace {

CUresult create(Driver& driver, Context& context, CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& wish) {
  constexpr unsigned kServed = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST;
  const std::size_t element = wire::cuda::channel_bytes(wish.Format) * wish.NumChannels;
  const bool channels = wish.NumChannels == 1 || wish.NumChannels == 2 || wish.NumChannels == 4;
  if (handle == nullptr || wish.Width == 0 || !channels) return CUDA_ERROR_INVALID_VALUE;
  if (element == 0 || (wish.Flags & ~kServed) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const bool layered = (wish.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if ((layered || wish.Depth != 0) && (wish.Depth == 0 || (!layered && wish.Height == 0))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
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
  if (const CUresult code = driver.make_array(context, bytes, *array); code != CUDA_SUCCESS) return code;
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
