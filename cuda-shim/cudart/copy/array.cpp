// Arrays (CUDA Runtime API, "Memory Management"): made and described. Copies are in copy_2d.cpp and
// copy_3d.cpp.
#include "cuda-shim/cudart/copy/array_format.hpp"

namespace fairgv::cudart {
namespace {

Status make_descriptor(const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned int flags,
                       CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  if (channels == nullptr) return cudaErrorInvalidValue;
  descriptor = {};
  FAIRGV_RETURN_IF_FAILED(driver_format(*channels, descriptor.Format, descriptor.NumChannels));
  descriptor.Width = extent.width;
  descriptor.Height = extent.height;
  descriptor.Depth = extent.depth;
  descriptor.Flags = flags;  // cudaArrayLayered and the others have the driver's values
  return cudaSuccess;
}

Status make_array(const Driver& driver, cudaArray_t* array, const cudaChannelFormatDesc* channels,
                  cudaExtent extent, unsigned int flags) {
  if (array == nullptr) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  FAIRGV_RETURN_IF_FAILED(make_descriptor(channels, extent, flags, descriptor));
  return pass(driver.cuArray3DCreate, array, &descriptor);
}

Status describe_array(const Driver& driver, cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  return driver.cuArray3DGetDescriptor(&descriptor, driver_array(array));
}

}  // namespace

FAIRGV_CALL(kContext, cudaMallocArray,
            (cudaArray_t * array, const cudaChannelFormatDesc* channels, std::size_t width,
             std::size_t height, unsigned int flags),
            (array, channels, width, height, flags)) {
  return make_array(driver, array, channels, {width, height, 0}, flags);
}

FAIRGV_CALL(kContext, cudaMalloc3DArray,
            (cudaArray_t * array, const cudaChannelFormatDesc* channels, cudaExtent extent,
             unsigned int flags),
            (array, channels, extent, flags)) {
  return make_array(driver, array, channels, extent, flags);
}

FAIRGV_CALL(kContext, cudaMallocMipmappedArray,
            (cudaMipmappedArray_t * array, const cudaChannelFormatDesc* channels, cudaExtent extent,
             unsigned int levels, unsigned int flags),
            (array, channels, extent, levels, flags)) {
  if (array == nullptr) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  FAIRGV_RETURN_IF_FAILED(make_descriptor(channels, extent, flags, descriptor));
  return pass(driver.cuMipmappedArrayCreate, array, &descriptor, levels);
}

FAIRGV_CALL(kContext, cudaFreeArray, (cudaArray_t array), (array)) {
  return array == nullptr ? Status(cudaSuccess) : driver.cuArrayDestroy(driver_array(array));
}

FAIRGV_CALL(kContext, cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array)) {
  return array == nullptr ? Status(cudaSuccess) : driver.cuMipmappedArrayDestroy(driver_array(array));
}

FAIRGV_CALL(kContext, cudaArrayGetInfo,
            (cudaChannelFormatDesc * channels, cudaExtent* extent, unsigned int* flags, cudaArray_t array),
            (channels, extent, flags, array)) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  FAIRGV_RETURN_IF_FAILED(describe_array(driver, array, descriptor));
  if (channels != nullptr)
    FAIRGV_RETURN_IF_FAILED(runtime_format(descriptor.Format, descriptor.NumChannels, *channels));
  if (extent != nullptr) *extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
  if (flags != nullptr) *flags = descriptor.Flags;
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaGetChannelDesc, (cudaChannelFormatDesc * channels, cudaArray_const_t array),
            (channels, array)) {
  if (channels == nullptr) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  FAIRGV_RETURN_IF_FAILED(describe_array(driver, array, descriptor));
  return runtime_format(descriptor.Format, descriptor.NumChannels, *channels);
}

FAIRGV_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // namespace fairgv::cudart
