// Entry points: mipmapped arrays (CUDA Driver API, "cuMipmappedArrayCreate" and its kin).
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/memory/array.hpp"

namespace fairgv::cuda {

extern "C" {

CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* wish,
                                        unsigned wished_levels) {
  return in_context([=](Driver& driver, Context& context) {
    if (handle == nullptr || wish == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult code = check_array(driver, context, *wish, true); code != CUDA_SUCCESS) return code;
    auto mipmap = std::make_shared<Mipmap>();
    mipmap->owner = context.handle();
    const unsigned levels = levels_of(*wish, wished_levels);
    for (unsigned level = 0; level < levels; ++level) {
      const auto& array = mipmap->levels.emplace_back(std::make_shared<Array>());
      array->owner = context.handle();
      array->description = level_of(*wish, level);
      array->is_level = true;
      if (!lay_out(*array)) return CUDA_ERROR_INVALID_VALUE;
    }
    if (const CUresult code = driver.engine.make_mipmap(context, *mipmap); code != CUDA_SUCCESS) return code;
    for (const auto& level : mipmap->levels) driver.arrays.add(level);
    *handle = reinterpret_cast<CUmipmappedArray>(driver.mipmaps.add(std::move(mipmap)));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned level) {
  return in_context([=](Driver& driver, Context&) {
    const auto mipmap = driver.mipmaps.find(handle);
    if (!mipmap) return CUDA_ERROR_INVALID_HANDLE;
    if (array == nullptr || level >= mipmap->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *array = reinterpret_cast<CUarray>(mipmap->levels[level].get());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return in_any_context([=](Driver& driver, Context& context) {
    const auto mipmap = driver.mipmaps.take(handle);
    if (!mipmap) return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& level : mipmap->levels) driver.arrays.take(level.get());
    driver.scheduler.synchronize(*context.group());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
