// Queries of textures and their arrays, and refused calls: cases of the program "textures".
#include <cstring>
#include <vector>

#include "textures.hpp"

namespace {

__global__ void read_view(cudaTextureObject_t t, float* out) {
  out[0] = tex2DLayered<float>(t, 1, 0, 0);
  out[1] = tex2DLayered<float>(t, 1, 0, 9);  // the last one
}

}  // namespace

void descriptions() {
  const int width = 4, layers = 6;
  std::vector<float> texels(width * width * layers);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = i;
  cudaArray_t array = filled_3d(texels, make_cudaExtent(width, width, layers), cudaArrayLayered);
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 0;
  OK(cudaArrayGetInfo(&format, &extent, &flags, array));
  CHECK(format.x == 32 && extent.width == 4 && extent.height == 4 && extent.depth == 6 &&
        flags == cudaArrayLayered);
  const cudaResourceDesc resource = of_array(array);
  cudaTextureDesc desc = sampling(cudaAddressModeBorder, cudaFilterModePoint, false);
  desc.maxAnisotropy = 4;
  cudaResourceViewDesc view = {};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = width;
  view.depth = layers;
  view.firstLayer = 2;
  view.lastLayer = 4;
  cudaTextureObject_t t = 0;
  OK(cudaCreateTextureObject(&t, &resource, &desc, &view));
  cudaResourceDesc told_resource;
  cudaTextureDesc told;
  cudaResourceViewDesc told_view;
  OK(cudaGetTextureObjectResourceDesc(&told_resource, t));
  OK(cudaGetTextureObjectTextureDesc(&told, t));
  OK(cudaGetTextureObjectResourceViewDesc(&told_view, t));
  CHECK(told_resource.resType == cudaResourceTypeArray && told_resource.res.array.array == array);
  CHECK(told.readMode == cudaReadModeElementType && told.normalizedCoords == 0);
  // NVIDIA's driver 580 returns other values than it was given.
  if (!is_system_driver()) {
    CHECK(told.addressMode[1] == cudaAddressModeBorder && told.borderColor[0] == -7);
    CHECK(told.maxAnisotropy == 4);
  }
  CHECK(told_view.firstLayer == 2 && told_view.lastLayer == 4 && told_view.width == 4);
  Results<float> out(2);
  read_view<<<1, 1>>>(t, out.device());
  CHECK(out.get()[0] == 2 * 16 + 1 && out.get()[1] == 4 * 16 + 1);
  OK(cudaDestroyTextureObject(t));
  t = texture(resource, desc);
  // NVIDIA's driver 580 makes up a view.
  if (!is_system_driver()) {
    CHECK_CODE(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&told_view, t));
    (void)cudaGetLastError();
  }
  OK(cudaDestroyTextureObject(t));
  size_t most = 0;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &bytes, 0));
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  CHECK(most >= 1 << 27 && properties.maxTexture2D[0] >= 65536 && properties.maxSurface2D[0] >= 32768 &&
        properties.maxTexture3D[2] >= 2048 && properties.textureAlignment > 0);
  OK(cudaFreeArray(array));
}

namespace {

void refused(const cudaResourceDesc& resource, const cudaTextureDesc& desc) {
  cudaTextureObject_t t = 0;
  CHECK_CODE(cudaErrorInvalidValue, cudaCreateTextureObject(&t, &resource, &desc, nullptr));
  (void)cudaGetLastError();
}

}  // namespace

// With handles that were made up or are gone: not for drivers that accept every handle.
void errors() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &format, 16, 16));
  const auto plain = sampling(cudaAddressModeClamp, cudaFilterModePoint, false);
  refused(of_array(nullptr), plain);
  refused(of_array(reinterpret_cast<cudaArray_t>(&array)), plain);
  refused(of_array(array), sampling(cudaAddressModeClamp, cudaFilterModeLinear, false));  // integers
  // A surface takes an array that was made for it.
  const cudaResourceDesc resource = of_array(array);
  cudaSurfaceObject_t s = 0;
  CHECK_CODE(cudaErrorInvalidValue, cudaCreateSurfaceObject(&s, &resource));
  CHECK_CODE(cudaErrorInvalidValue, cudaDestroySurfaceObject(12345));
  CHECK_CODE(cudaErrorInvalidValue, cudaDestroyTextureObject(12345));
  cudaTextureObject_t t = texture(resource, plain);
  OK(cudaDestroyTextureObject(t));
  CHECK_CODE(cudaErrorInvalidValue, cudaDestroyTextureObject(t));
  cudaTextureDesc told;
  CHECK_CODE(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&told, t));
  // Memory: not aligned, longer than its allocation, at a null address, with a pitch too short.
  int* memory = nullptr;
  OK(cudaMalloc(&memory, 4096));
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.desc = format;
  linear.res.linear.sizeInBytes = 1024;
  linear.res.linear.devPtr = memory + 1;
  refused(linear, plain);
  linear.res.linear.devPtr = nullptr;
  refused(linear, plain);
  linear.res.linear.devPtr = memory;
  linear.res.linear.sizeInBytes = 1 << 20;
  refused(linear, plain);
  linear.res.linear.sizeInBytes = 2;  // not one element
  refused(linear, plain);
  cudaResourceDesc pitched = {};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = memory;
  pitched.res.pitch2D.desc = format;
  pitched.res.pitch2D.width = 16;
  pitched.res.pitch2D.height = 8;
  pitched.res.pitch2D.pitchInBytes = 32;
  refused(pitched, plain);
  pitched.res.pitch2D.pitchInBytes = 1024;
  refused(pitched, plain);  // the last row lies outside
  OK(cudaFree(memory));
  // Arrays: none of size zero, none beyond the device's largest; and freed only once.
  cudaArray_t bad = nullptr;
  CHECK_CODE(cudaErrorInvalidValue, cudaMallocArray(&bad, &format, 0, 16));
  CHECK_CODE(cudaErrorInvalidValue, cudaMallocArray(&bad, &format, 1 << 20, 16));
  CHECK_CODE(cudaErrorInvalidValue,
             cudaMalloc3DArray(&bad, &format, make_cudaExtent(8, 4, 6), cudaArrayCubemap));
  CHECK_CODE(cudaErrorInvalidValue,
             cudaMalloc3DArray(&bad, &format, make_cudaExtent(8, 8, 6), cudaArrayTextureGather));
  cudaMipmappedArray_t mipmapped = nullptr;
  OK(cudaMallocMipmappedArray(&mipmapped, &format, make_cudaExtent(8, 8, 0), 2, cudaArrayDefault));
  cudaArray_t level = nullptr;
  CHECK_CODE(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, mipmapped, 2));
  OK(cudaGetMipmappedArrayLevel(&level, mipmapped, 1));
  CHECK(cudaFreeArray(level) != cudaSuccess);
  OK(cudaFreeMipmappedArray(mipmapped));
  CHECK_CODE(cudaErrorInvalidResourceHandle, cudaFreeMipmappedArray(mipmapped));
  OK(cudaFreeArray(array));
  CHECK_CODE(cudaErrorInvalidResourceHandle, cudaFreeArray(array));
  refused(of_array(array), plain);
  int value = 0;
  CHECK(cudaMemcpy2DFromArray(&value, 4, array, 0, 0, 4, 1, cudaMemcpyDeviceToHost) != cudaSuccess);
  (void)cudaGetLastError();
}
