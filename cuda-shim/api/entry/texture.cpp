// Entry points: texture and surface objects (CUDA Driver API, "Texture Object Management", "Surface Object
// Management"). Queries return the descriptions given at their creation.
#include "cuda-shim/api/memory/texture.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

using Table = HandleTable<TextureObject>;

const void* key(unsigned long long handle) {
  return reinterpret_cast<const void*>(handle);
}

/// Returns the result of `take(object)` for a handle in the table.
template <typename Take>
CUresult of_object(Table Driver::*table, unsigned long long handle, const Take& take) noexcept {
  return in_context([&](Driver& driver, Context&) {
    const auto object = (driver.*table).find(key(handle));
    return object ? take(*object) : CUDA_ERROR_INVALID_VALUE;
  });
}

template <typename Description>
CUresult answer(Description* to, const Description& what) {
  if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *to = what;
  return CUDA_SUCCESS;
}

CUresult destroy(Table Driver::*table, unsigned long long handle) noexcept {
  return in_any_context([=](Driver& driver, Context& context) {
    const auto object = (driver.*table).take(key(handle));
    if (!object) return CUDA_ERROR_INVALID_VALUE;
    driver.scheduler.synchronize(*context.group());  // kernels may still read through it
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource,
                                   const CUDA_TEXTURE_DESC* sampling, const CUDA_RESOURCE_VIEW_DESC* view) {
  return in_context([=](Driver& driver, Context& context) {
    if (handle == nullptr || resource == nullptr || sampling == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto object = std::make_shared<TextureObject>();
    object->owner = context.handle();
    object->resource = *resource;
    object->sampling = *sampling;
    if (view != nullptr) object->view = *view;
    CUresult code = check_texture(driver, context, *object);
    if (code == CUDA_SUCCESS) code = driver.engine.make_texture(context, *object);
    if (code != CUDA_SUCCESS) return code;
    *handle = object->handle;
    driver.textures.add_as(key(*handle), std::move(object));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject handle) {
  return destroy(&Driver::textures, handle);
}

CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  return of_object(&Driver::textures, handle,
                   [=](const TextureObject& object) { return answer(resource, object.resource); });
}

CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* sampling, CUtexObject handle) {
  return of_object(&Driver::textures, handle,
                   [=](const TextureObject& object) { return answer(sampling, object.sampling); });
}

CUresult CUDAAPI cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject handle) {
  return of_object(&Driver::textures, handle, [=](const TextureObject& object) {
    return object.view ? answer(view, *object.view) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  return in_context([=](Driver& driver, Context& context) {
    if (handle == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto object = std::make_shared<TextureObject>();
    object->owner = context.handle();
    object->resource = *resource;
    CUresult code = check_surface(driver, *object);
    if (code == CUDA_SUCCESS) code = driver.engine.make_surface(context, *object);
    if (code != CUDA_SUCCESS) return code;
    *handle = object->handle;
    driver.surfaces.add_as(key(*handle), std::move(object));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject handle) {
  return destroy(&Driver::surfaces, handle);
}

CUresult CUDAAPI cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  return of_object(&Driver::surfaces, handle,
                   [=](const TextureObject& object) { return answer(resource, object.resource); });
}

CUresult CUDAAPI cuDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, CUarray_format format,
                                                    unsigned channels, CUdevice device) {
  return initialized([=](Driver& driver) {
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (elements == nullptr || !is_stored({format, channels})) return CUDA_ERROR_INVALID_VALUE;
    *elements = static_cast<std::size_t>(
        driver.engine.attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
