// Mipmapped arrays: a case of the program "textures".
#include <vector>

#include "textures.hpp"

namespace {

constexpr int kWidth = 16, kLevels = 5;

// Each level has one number everywhere.
float value_of(int level) { return 100.0f - 10.0f * level; }

__global__ void read_levels(cudaTextureObject_t t, float* out) {
  out[0] = tex2DLod<float>(t, 0.5f, 0.5f, 0.0f);
  out[1] = tex2DLod<float>(t, 0.5f, 0.5f, 2.0f);
  out[2] = tex2DLod<float>(t, 0.5f, 0.5f, 2.5f);
  out[3] = tex2DLod<float>(t, 0.5f, 0.5f, 99.0f);
  // A step of four texels: level 2. The longer of both counts.
  out[4] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(4.0f / kWidth, 0), make_float2(0, 1.0f / kWidth));
  out[5] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(0, 1.0f / kWidth), make_float2(0, 8.0f / kWidth));
  out[6] = tex2D<float>(t, 0.5f, 0.5f);
}

cudaTextureObject_t levels_of(cudaMipmappedArray_t mipmap, cudaTextureFilterMode between, float bias) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc desc = sampling(cudaAddressModeClamp, cudaFilterModeLinear, true);
  desc.mipmapFilterMode = between;
  desc.mipmapLevelBias = bias;
  desc.maxMipmapLevelClamp = kLevels - 1;
  return texture(resource, desc);
}

bool near(float a, float b) { return a > b - 0.3f && a < b + 0.3f; }

}  // namespace

void mipmaps() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mipmap = nullptr;
  OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(kWidth, kWidth, 0), kLevels));
  for (int level = 0; level < kLevels; ++level) {
    const size_t width = kWidth >> level;
    const std::vector<float> texels(width * width, value_of(level));
    cudaArray_t array = nullptr;
    OK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
    cudaExtent extent;
    OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
    CHECK(extent.width == width && extent.height == width);
    OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, width, cudaMemcpyHostToDevice));
  }
  Results<float> out(7);
  cudaTextureObject_t t = levels_of(mipmap, cudaFilterModePoint, 0);
  cudaResourceDesc told;
  OK(cudaGetTextureObjectResourceDesc(&told, t));
  CHECK(told.resType == cudaResourceTypeMipmappedArray && told.res.mipmap.mipmap == mipmap);
  read_levels<<<1, 1>>>(t, out.device());
  std::vector<float> got = out.get();
  CHECK(got[0] == value_of(0) && got[1] == value_of(2) && got[3] == value_of(4));
  CHECK(got[2] == value_of(2) || got[2] == value_of(3));
  CHECK(got[4] == value_of(2) && got[5] == value_of(3) && got[6] == value_of(0));
  OK(cudaDestroyTextureObject(t));
  t = levels_of(mipmap, cudaFilterModeLinear, 0.5f);
  read_levels<<<1, 1>>>(t, out.device());
  got = out.get();
  CHECK(near(got[0], value_of(0) - 5) && near(got[1], value_of(2) - 5) && near(got[2], value_of(3)));
  CHECK(near(got[3], value_of(4)) && near(got[4], value_of(2) - 5) && near(got[5], value_of(3) - 5));
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeMipmappedArray(mipmap));
}
