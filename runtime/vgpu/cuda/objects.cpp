#include "runtime/vgpu/cuda/objects.hpp"

#include "runtime/vgpu/cuda/current_context.hpp"

namespace fairgv::vgpu::cuda {

Context::~Context() {
  if (handle == nullptr) return;
  if (current_context() == handle) use(driver, nullptr);
  if (is_primary) {
    driver.cuDevicePrimaryCtxRelease(device.handle);
  } else {
    driver.cuCtxDestroy(handle);
  }
}

Stream::~Stream() {
  if (handle == nullptr || use(context->driver, context->handle) != CUDA_SUCCESS) return;
  if (reached != nullptr) context->driver.cuEventDestroy(reached);
  for (const CUevent event : spare_ends) context->driver.cuEventDestroy(event);
  context->driver.cuStreamDestroy(handle);
}

Module::~Module() {
  if (code() != CUDA_SUCCESS || use(context->driver, context->handle) != CUDA_SUCCESS) return;
  context->driver.cuModuleUnload(loaded->handle);
}

Mipmap::~Mipmap() {
  if (handle == nullptr || use(context->driver, context->handle) != CUDA_SUCCESS) return;
  context->driver.cuMipmappedArrayDestroy(handle);
}

Array::~Array() {
  if (handle == nullptr || mipmap || use(context->driver, context->handle) != CUDA_SUCCESS) return;
  context->driver.cuArrayDestroy(handle);
}

Texture::~Texture() {
  if (!is_made || use(context->driver, context->handle) != CUDA_SUCCESS) return;
  context->driver.cuTexObjectDestroy(handle);
}

Surface::~Surface() {
  if (!is_made || use(context->driver, context->handle) != CUDA_SUCCESS) return;
  context->driver.cuSurfObjectDestroy(handle);
}

}  // namespace fairgv::vgpu::cuda
