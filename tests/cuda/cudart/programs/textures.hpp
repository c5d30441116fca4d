// Shared by the programs of textures and of surfaces: descriptions, objects, and results that the host reads.
#ifndef FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_TEXTURES_HPP
#define FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_TEXTURES_HPP

#include <vector>

#include "check.hpp"

constexpr int kBlock = 32;

inline cudaTextureDesc sampling(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized,
                                cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc desc = {};
  for (cudaTextureAddressMode& each : desc.addressMode) each = mode;
  desc.filterMode = filter;
  desc.normalizedCoords = normalized;
  desc.readMode = read;
  desc.borderColor[0] = -7;
  return desc;
}

inline cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc desc = {};
  desc.resType = cudaResourceTypeArray;
  desc.res.array.array = array;
  return desc;
}

inline cudaTextureObject_t texture(const cudaResourceDesc& resource, const cudaTextureDesc& desc) {
  cudaTextureObject_t object = 0;
  OK(cudaCreateTextureObject(&object, &resource, &desc, nullptr));
  return object;
}

inline cudaSurfaceObject_t surface(cudaArray_t array) {
  const cudaResourceDesc resource = of_array(array);
  cudaSurfaceObject_t object = 0;
  OK(cudaCreateSurfaceObject(&object, &resource));
  return object;
}

// Device memory with a host's view of it.
template <class T>
class Results {
 public:
  explicit Results(int count) : host_(count) { OK(cudaMalloc(&device_, count * sizeof(T))); }
  ~Results() { cudaFree(device_); }
  T* device() { return device_; }
  const std::vector<T>& get() {
    OK(cudaMemcpy(host_.data(), device_, host_.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return host_;
  }

 private:
  T* device_ = nullptr;
  std::vector<T> host_;
};

// Texels that differ from their neighbours.
inline std::vector<float> made_texels(int width, int height) {
  std::vector<float> texels(width * height);
  for (int i = 0; i < width * height; ++i) texels[i] = (i * 37) % 101;
  return texels;
}

inline cudaArray_t filled_3d(const std::vector<float>& texels, cudaExtent extent, unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  OK(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy = {};
  const size_t rows = std::max<size_t>(1, extent.height);
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(texels.data()), extent.width * sizeof(float),
                                    extent.width, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, rows, extent.depth);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  return array;
}

#endif  // FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_TEXTURES_HPP
