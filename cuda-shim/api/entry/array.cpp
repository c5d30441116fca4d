// Entry points: arrays (CUDA Driver API, "cuArrayCreate" and its kin).
#include "cuda-shim/api/memory/array.hpp"
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

CUresult create(Driver& driver, Context& context, CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& wish) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = check_array(driver, context, wish, false); code != CUDA_SUCCESS) return code;
  auto array = std::make_shared<Array>();
  array->owner = context.handle();
  array->description = wish;
  if (!lay_out(*array)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult code = driver.engine.make_array(context, array->bytes(), *array); code != CUDA_SUCCESS)
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
    const auto found = driver.arrays.find(handle);
    if (found && found->is_level) return CUDA_ERROR_INVALID_VALUE;
    const auto array = driver.arrays.take(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.synchronize(*context.group());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
