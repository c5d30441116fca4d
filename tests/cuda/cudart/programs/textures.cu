// Textures over arrays of every kind, linear and pitched memory. The host computes the expected values;
// coordinates and values are such that linear filters are exact.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "textures.hpp"

namespace {

// ---- one and two dimensions

__global__ void sample_2d(cudaTextureObject_t t, float* out, int count, float scale, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count * count) return;
  const float x = (i % count - count / 2) * step, y = (i / count - count / 2) * step;
  out[i] = tex2D<float>(t, x * scale, y * scale);
}

// The index inside for a texel's index anywhere, or -1 for the border.
int inside(int i, int n, cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap:
      return ((i % n) + n) % n;
    case cudaAddressModeMirror: {
      const int rest = ((i % (2 * n)) + 2 * n) % (2 * n);
      return rest < n ? rest : 2 * n - 1 - rest;
    }
    case cudaAddressModeClamp:
      return std::min(std::max(i, 0), n - 1);
    default:
      return i < 0 || i >= n ? -1 : i;
  }
}

struct Grid {
  int width, height;
  std::vector<float> texels;
  float at(int i, int j, cudaTextureAddressMode mode) const {
    const int x = inside(i, width, mode), y = inside(j, height, mode);
    return x < 0 || y < 0 ? -7 : texels[y * width + x];
  }
  float sample(float x, float y, cudaTextureAddressMode mode, cudaTextureFilterMode filter) const {
    if (filter == cudaFilterModePoint) return at(std::floor(x), std::floor(y), mode);
    const float i = std::floor(x - 0.5f), j = std::floor(y - 0.5f);
    const float a = x - 0.5f - i, b = y - 0.5f - j;
    return (1 - a) * (1 - b) * at(i, j, mode) + a * (1 - b) * at(i + 1, j, mode) +
           (1 - a) * b * at(i, j + 1, mode) + a * b * at(i + 1, j + 1, mode);
  }
};

Grid made_grid(int width, int height) {
  return {width, height, made_texels(width, height)};
}

void array_2d() {
  const Grid grid = made_grid(16, 8);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &format, grid.width, grid.height));
  const size_t row = grid.width * sizeof(float);
  OK(cudaMemcpy2DToArray(array, 0, 0, grid.texels.data(), row, row, grid.height, cudaMemcpyHostToDevice));
  const int count = 160;
  const float step = 0.25f;
  Results<float> out(count * count);
  for (const cudaTextureAddressMode mode :
       {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
    for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      for (const bool normalized : {false, true}) {
        // The same scale for both extents: x beyond one period, y beyond two.
        const cudaTextureObject_t t = texture(of_array(array), sampling(mode, filter, normalized));
        const float scale = normalized ? 1.0f / 16 : 1.0f;
        sample_2d<<<(count * count + kBlock - 1) / kBlock, kBlock>>>(t, out.device(), count, scale, step);
        OK(cudaGetLastError());
        const std::vector<float>& got = out.get();
        const bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
        const cudaTextureAddressMode seen = repeats && !normalized ? cudaAddressModeClamp : mode;
        for (int i = 0; i < count * count; ++i) {
          const float x = (i % count - count / 2) * step;
          const float y = (i / count - count / 2) * step * (normalized ? 8.0f / 16 : 1.0f);
          const float expected = grid.sample(x, y, seen, filter);
          if (got[i] != expected)
            std::printf("%d %d %d: %g %g is %g\n", mode, filter, normalized, x, y, got[i]);
          CHECK(got[i] == expected);
        }
        OK(cudaDestroyTextureObject(t));
      }
    }
  }
  OK(cudaFreeArray(array));
}

__global__ void sample_1d(cudaTextureObject_t t, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1D<float4>(t, i * 0.25f - 2);
}

__global__ void fetch(cudaTextureObject_t t, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<float4>(t, i - 5);
}

__global__ void fetch_byte(cudaTextureObject_t t, unsigned char* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<unsigned char>(t, i);
}

bool is_near(float got, unsigned char byte) {
  return std::fabs(got - byte / 255.0f) < 1e-6f;
}

// Bytes read as numbers in [0, 1], in an array of one dimension and in linear memory.
void bytes_as_numbers() {
  const int width = 100, count = 500;
  std::vector<uchar4> texels(width);
  for (int i = 0; i < width; ++i) texels[i] = make_uchar4(i, 255 - i, 3 * i, i % 2 ? 255 : 0);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &format, width));
  OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), width * 4, width * 4, 1, cudaMemcpyHostToDevice));
  const auto desc = sampling(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
  cudaTextureObject_t t = texture(of_array(array), desc);
  Results<float4> out(count);
  sample_1d<<<(count + kBlock - 1) / kBlock, kBlock>>>(t, out.device(), count);
  std::vector<float4> got = out.get();
  for (int i = 0; i < count; ++i) {
    const uchar4 texel = texels[inside(std::floor(i * 0.25f - 2), width, cudaAddressModeClamp)];
    CHECK(is_near(got[i].x, texel.x) && is_near(got[i].y, texel.y) && is_near(got[i].z, texel.z) &&
          is_near(got[i].w, texel.w));
  }
  OK(cudaDestroyTextureObject(t));

  uchar4* memory = nullptr;
  OK(cudaMalloc(&memory, width * 4));
  OK(cudaMemcpy(memory, texels.data(), width * 4, cudaMemcpyHostToDevice));
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = memory;
  linear.res.linear.desc = format;
  linear.res.linear.sizeInBytes = width * 4;
  t = texture(linear, desc);
  const int around = width + 10;  // texels outside are 0
  fetch<<<(around + kBlock - 1) / kBlock, kBlock>>>(t, out.device(), around);
  got = out.get();
  for (int i = 0; i < around; ++i) {
    const bool there = i >= 5 && i < width + 5;
    const uchar4 texel = there ? texels[i - 5] : make_uchar4(0, 0, 0, 0);
    CHECK(is_near(got[i].x, texel.x) && is_near(got[i].w, texel.w));
  }
  OK(cudaDestroyTextureObject(t));
  linear.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
  t = texture(linear, sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
  Results<unsigned char> bytes(width * 4);
  fetch_byte<<<(width * 4 + kBlock - 1) / kBlock, kBlock>>>(t, bytes.device(), width * 4);
  CHECK(std::memcmp(bytes.get().data(), texels.data(), width * 4) == 0);
  OK(cudaDestroyTextureObject(t));
  OK(cudaFree(memory));
  OK(cudaFreeArray(array));
}

void pitched() {
  const Grid grid = made_grid(19, 11);
  float* memory = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&memory, &pitch, grid.width * sizeof(float), grid.height));
  const size_t row = grid.width * sizeof(float);
  OK(cudaMemcpy2D(memory, pitch, grid.texels.data(), row, row, grid.height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = grid.width;
  resource.res.pitch2D.height = grid.height;
  resource.res.pitch2D.pitchInBytes = pitch;
  const int count = 100;
  Results<float> out(count * count);
  for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    const cudaTextureObject_t t = texture(resource, sampling(cudaAddressModeClamp, filter, false));
    sample_2d<<<(count * count + kBlock - 1) / kBlock, kBlock>>>(t, out.device(), count, 1, 0.5f);
    const std::vector<float>& got = out.get();
    for (int i = 0; i < count * count; ++i) {
      const float x = (i % count - count / 2) * 0.5f, y = (i / count - count / 2) * 0.5f;
      CHECK(got[i] == grid.sample(x, y, cudaAddressModeClamp, filter));
    }
    OK(cudaDestroyTextureObject(t));
  }
  OK(cudaFree(memory));
}

// ---- volumes and layers

__global__ void sample_3d(cudaTextureObject_t t, float* out, int width, int height, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height * depth) return;
  out[i] = tex3D<float>(t, i % width + 0.5f, i / width % height + 0.5f, i / (width * height) + 1.0f);
}

void volumes() {
  const int width = 9, height = 5, depth = 7, count = width * height * depth;
  std::vector<float> texels(count);
  for (int i = 0; i < count; ++i) texels[i] = i * 13 % 64;
  cudaArray_t array = filled_3d(texels, make_cudaExtent(width, height, depth), cudaArrayDefault);
  const cudaTextureObject_t t =
      texture(of_array(array), sampling(cudaAddressModeClamp, cudaFilterModeLinear, false));
  Results<float> out(count);
  sample_3d<<<(count + kBlock - 1) / kBlock, kBlock>>>(t, out.device(), width, height, depth);
  const std::vector<float>& got = out.get();
  for (int i = 0; i < count; ++i) {
    const int above = i + width * height < count ? i + width * height : i;
    CHECK(got[i] == 0.5f * texels[i] + 0.5f * texels[above]);  // half-way between two slices
  }
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeArray(array));
}

__global__ void sample_layers(cudaTextureObject_t t, float* out, int width, int height, int layers,
                              bool flat) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height * layers) return;
  const float x = i % width + 0.5f, y = i / width % height + 0.5f;
  const int layer = i / (width * height);
  out[i] = flat ? tex1DLayered<float>(t, x, layer) : tex2DLayered<float>(t, x, y, layer);
}

void layers() {
  const int width = 8, layers = 5;
  for (const int height : {1, 6}) {
    const int count = width * height * layers;
    std::vector<float> texels(count);
    for (int i = 0; i < count; ++i) texels[i] = i;
    const bool flat = height == 1;
    cudaArray_t array =
        filled_3d(texels, make_cudaExtent(width, flat ? 0 : height, layers), cudaArrayLayered);
    // A filter does not reach into the next layer.
    const cudaTextureObject_t t =
        texture(of_array(array), sampling(cudaAddressModeClamp, cudaFilterModeLinear, false));
    Results<float> out(count);
    sample_layers<<<(count + kBlock - 1) / kBlock, kBlock>>>(t, out.device(), width, height, layers, flat);
    CHECK(out.get() == texels);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(array));
  }
}

__global__ void look_around(cudaTextureObject_t t, float* out) {
  const float3 ways[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const float3 way = ways[blockIdx.x];
  out[blockIdx.x] = texCubemap<float>(t, way.x, way.y, way.z);
  // Off the middle of the face +x: to its right and below, where z and y are less.
  if (blockIdx.x == 0) out[6] = texCubemap<float>(t, 1, -0.5f, -0.5f);
}

void cubemaps() {
  const int width = 2;
  std::vector<float> texels(width * width * 6);
  for (int i = 0; i < width * width * 6; ++i) texels[i] = i;
  cudaArray_t array = filled_3d(texels, make_cudaExtent(width, width, 6), cudaArrayCubemap);
  const cudaTextureObject_t t =
      texture(of_array(array), sampling(cudaAddressModeClamp, cudaFilterModeLinear, true));
  Results<float> out(7);
  look_around<<<6, 1>>>(t, out.device());
  const std::vector<float>& got = out.get();
  for (int face = 0; face < 6; ++face) CHECK(got[face] == face * 4 + 1.5f);
  CHECK(got[6] == 3);
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeArray(array));
}

__global__ void gather(cudaTextureObject_t t, float4* out) {
  out[0] = tex2Dgather<float4>(t, 2, 3, 0);
  out[1] = tex2Dgather<float4>(t, 2, 3, 1);
}

void gathering() {
  const int width = 4, height = 4;
  std::vector<float2> texels(width * height);
  for (int i = 0; i < width * height; ++i) texels[i] = make_float2(i, -i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &format, width, height, cudaArrayTextureGather));
  const size_t row = width * sizeof(float2);
  OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, height, cudaMemcpyHostToDevice));
  const cudaTextureObject_t t =
      texture(of_array(array), sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
  Results<float4> out(2);
  gather<<<1, 1>>>(t, out.device());
  const std::vector<float4> got = out.get();
  // Texels (1, 3), (2, 3), (2, 2), (1, 2).
  CHECK(got[0].x == 13 && got[0].y == 14 && got[0].z == 10 && got[0].w == 9);
  CHECK(got[1].x == -13 && got[1].y == -14 && got[1].z == -10 && got[1].w == -9);
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeArray(array));
}

}  // namespace

// From textures_levels.cu and textures_told.cu.
void mipmaps();
void descriptions();
void errors();

int main(int argc, char** argv) {
  const Case cases[] = {{"array_2d", array_2d},
                        {"bytes_as_numbers", bytes_as_numbers},
                        {"pitched", pitched},
                        {"volumes", volumes},
                        {"layers", layers},
                        {"cubemaps", cubemaps},
                        {"gathering", gathering},
                        {"mipmaps", mipmaps},
                        {"descriptions", descriptions},
                        {"errors", errors}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
