// Surfaces over arrays of every kind, copies of arrays in all directions, and the memory that arrays are
// charged.
#include <cstring>
#include <vector>

#include "textures.hpp"

namespace {

// ---- surfaces

__global__ void double_all(cudaSurfaceObject_t s, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width || y >= height) return;
  surf2Dwrite(2 * surf2Dread<float>(s, x * 4, y), s, x * 4, y);
}

__global__ void beside(cudaSurfaceObject_t s, float* out, int width) {
  out[0] = surf2Dread<float>(s, -4, 0, cudaBoundaryModeZero);
  out[1] = surf2Dread<float>(s, width * 4, -3, cudaBoundaryModeClamp);
  surf2Dwrite(99.0f, s, width * 4, 0, cudaBoundaryModeZero);
  surf2Dwrite(77.0f, s, width * 4 + 40, 1, cudaBoundaryModeClamp);
}

void surfaces() {
  const int width = 200, height = 30;
  const std::vector<float> texels = made_texels(width, height);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  const size_t row = width * sizeof(float);
  OK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, height, cudaMemcpyHostToDevice));
  const cudaSurfaceObject_t s = surface(array);
  for (int times = 0; times < 3; ++times)
    double_all<<<dim3((width + kBlock - 1) / kBlock, height), kBlock>>>(s, width, height);
  Results<float> out(2);
  beside<<<1, 1>>>(s, out.device(), width);
  CHECK(out.get()[0] == 0 && out.get()[1] == 8 * texels[width - 1]);
  std::vector<float> back(texels.size());
  OK(cudaMemcpy2DFromArray(back.data(), row, array, 0, 0, row, height, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < back.size(); ++i)
    CHECK(back[i] == (i == 2u * width - 1 ? 77 : 8 * texels[i]));
  OK(cudaDestroySurfaceObject(s));
  OK(cudaFreeArray(array));
}

__global__ void write_volume(cudaSurfaceObject_t s, int width, int height, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height * depth) return;
  surf3Dwrite(make_short2(i, -i), s, i % width * 4, i / width % height, i / (width * height));
}
__global__ void write_layers(cudaSurfaceObject_t s, int width, int height, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height * depth) return;
  const short2 old = surf2DLayeredread<short2>(s, i % width * 4, i / width % height, i / (width * height));
  surf2DLayeredwrite(make_short2(i, old.y - i), s, i % width * 4, i / width % height, i / (width * height));
}

void volume_surfaces() {
  const int width = 33, height = 9, depth = 5, count = width * height * depth;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<short2>();
  for (const bool layered : {false, true}) {
    cudaArray_t array = nullptr;
    const cudaExtent extent = make_cudaExtent(width, height, depth);
    OK(cudaMalloc3DArray(&array, &format, extent,
                         cudaArraySurfaceLoadStore | (layered ? cudaArrayLayered : 0)));
    std::vector<short2> zeros(count, make_short2(0, 0)), back(count);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(zeros.data(), width * sizeof(short2), width, height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    const cudaSurfaceObject_t s = surface(array);
    auto* const kernel = layered ? write_layers : write_volume;
    kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(s, width, height, depth);
    copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(back.data(), width * sizeof(short2), width, height);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    for (int i = 0; i < count; ++i) CHECK(back[i].x == i && back[i].y == -i);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(array));
  }
}

// ---- copies and order

void copies() {
  const int width = 64, height = 16, bytes = width * height * 4;
  const size_t row = width * 4;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t first = nullptr, second = nullptr;
  OK(cudaMallocArray(&first, &format, width, height));
  OK(cudaMallocArray(&second, &format, width, height));
  int *pinned = nullptr, *linear = nullptr;
  OK(cudaMallocHost(&pinned, bytes));
  OK(cudaMalloc(&linear, bytes));
  std::vector<int> pageable(width * height), registered(width * height);
  OK(cudaHostRegister(registered.data(), bytes, cudaHostRegisterDefault));
  for (int i = 0; i < width * height; ++i) pageable[i] = pinned[i] = i * 3;
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  // Pinned host, array, array, device, array, registered host; in a stream, without a wait in between.
  OK(cudaMemcpy2DToArrayAsync(first, 0, 0, pinned, row, row, height, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpy2DFromArrayAsync(linear, row, first, 0, 0, row, height, cudaMemcpyDeviceToDevice, stream));
  OK(cudaMemsetAsync(linear, 0xff, 4, stream));
  OK(cudaMemcpy2DToArrayAsync(second, 0, 0, linear, row, row, height, cudaMemcpyDeviceToDevice, stream));
  OK(cudaMemcpy2DFromArrayAsync(registered.data(), row, second, 0, 0, row, height, cudaMemcpyDeviceToHost,
                                stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < width * height; ++i) CHECK(registered[i] == (i == 0 ? -1 : i * 3));
  // A box of one array into another, at other places.
  OK(cudaMemcpy2DArrayToArray(second, 8, 2, first, 16, 4, 24, 5));
  std::vector<int> back(width * height);
  OK(cudaMemcpy2DFromArray(back.data(), row, second, 0, 0, row, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool moved = x >= 2 && x < 8 && y >= 2 && y < 7;
      const int from = moved ? (y + 2) * width + x + 2 : y * width + x;
      CHECK(back[y * width + x] == (from == 0 ? -1 : from * 3));
    }
  }
  // Pageable memory, of which the copy uses only a part of each row.
  OK(cudaMemcpy2DToArray(first, 8, 3, pageable.data(), 80, 40, 10, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArray(back.data(), 44, first, 8, 3, 40, 10, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i) CHECK(back[i / 10 * 11 + i % 10] == (i / 10 * 20 + i % 10) * 3);
  CHECK_CODE(cudaErrorInvalidValue,
             cudaMemcpy2DToArray(first, 4, 0, pageable.data(), row, row, height, cudaMemcpyHostToDevice));
  CHECK_CODE(cudaErrorInvalidValue,
             cudaMemcpy2DFromArray(back.data(), row, first, 0, 1, row, height, cudaMemcpyDeviceToHost));
  (void)cudaGetLastError();
  OK(cudaStreamDestroy(stream));
  OK(cudaHostUnregister(registered.data()));
  OK(cudaFreeHost(pinned));
  OK(cudaFree(linear));
  OK(cudaFreeArray(first));
  OK(cudaFreeArray(second));
}

__global__ void add_one(cudaTextureObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) surf2Dwrite(tex2D<int>(from, x, y) + 1, to, x * 4, y);
}

// One launch writes through a surface, and the next reads the result through a texture, to and fro.
void order() {
  const int width = 300, height = 20, rounds = 20;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t arrays[2];
  cudaTextureObject_t textures[2];
  cudaSurfaceObject_t surfaces[2];
  for (int i = 0; i < 2; ++i) {
    OK(cudaMallocArray(&arrays[i], &format, width, height, cudaArraySurfaceLoadStore));
    textures[i] = texture(of_array(arrays[i]), sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
    surfaces[i] = surface(arrays[i]);
  }
  const size_t row = width * sizeof(int);
  std::vector<int> values(width * height);
  for (int i = 0; i < width * height; ++i) values[i] = i;
  OK(cudaMemcpy2DToArray(arrays[0], 0, 0, values.data(), row, row, height, cudaMemcpyHostToDevice));
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < rounds; ++i) {
    add_one<<<dim3((width + kBlock - 1) / kBlock, height), kBlock, 0, stream>>>(
        textures[i % 2], surfaces[(i + 1) % 2], width, height);
  }
  OK(cudaStreamSynchronize(stream));
  std::vector<int> back(width * height);
  OK(cudaMemcpy2DFromArray(back.data(), row, arrays[0], 0, 0, row, height, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i) CHECK(back[i] == values[i] + rounds);
  for (int i = 0; i < 2; ++i) {
    // The array goes first: launches that read it still may do so.
    OK(cudaFreeArray(arrays[i]));
    OK(cudaDestroyTextureObject(textures[i]));
    OK(cudaDestroySurfaceObject(surfaces[i]));
  }
  OK(cudaStreamDestroy(stream));
}

// ---- charges for arrays, and accesses outside of them

size_t free_memory() {
  size_t free = 0, total = 0;
  OK(cudaMemGetInfo(&free, &total));
  return free;
}

// For a tenant with a limit of 64 MiB: an array is charged until nothing reads it any more.
void quota() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  const size_t one = 1024 * 256 * 16, before = free_memory();
  CHECK(before <= 64 << 20);
  std::vector<cudaArray_t> arrays;
  cudaArray_t array = nullptr;
  while (cudaMallocArray(&array, &format, 1024, 256) == cudaSuccess) {
    arrays.push_back(array);
    CHECK(free_memory() == before - arrays.size() * one && arrays.size() < 17);
  }
  CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
  CHECK(arrays.size() == before / one);
  // Nothing is charged for an array that was refused or is impossible.
  CHECK_CODE(cudaErrorMemoryAllocation,
             cudaMalloc3DArray(&array, &format, make_cudaExtent(16384, 16384, 16384), 0));
  CHECK_CODE(cudaErrorInvalidValue, cudaMallocArray(&array, &format, 1 << 30, 1 << 30));
  (void)cudaGetLastError();
  const cudaTextureObject_t t =
      texture(of_array(arrays[0]), sampling(cudaAddressModeClamp, cudaFilterModePoint, false));
  const size_t left = free_memory();
  OK(cudaFreeArray(arrays[1]));
  CHECK(free_memory() == left + one);
  OK(cudaFreeArray(arrays[0]));
  CHECK(free_memory() == left + one);  // a texture still reads it
  OK(cudaDestroyTextureObject(t));
  CHECK(free_memory() == left + 2 * one);
  for (size_t i = 2; i < arrays.size(); ++i) OK(cudaFreeArray(arrays[i]));
  CHECK(free_memory() == before);
}

__global__ void write_outside(cudaSurfaceObject_t s) {
  surf2Dwrite(1, s, 16 * 4, 0);
}

// The error sticks: run this case alone.
void outside() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &format, 16, 16, cudaArraySurfaceLoadStore));
  const cudaSurfaceObject_t s = surface(array);
  write_outside<<<1, 1>>>(s);
  const cudaError_t code = cudaDeviceSynchronize();
  CHECK(code != cudaSuccess);
  int* memory = nullptr;
  CHECK_CODE(code, cudaMalloc(&memory, 4));
}

}  // namespace

int main(int argc, char** argv) {
  const Case cases[] = {{"surfaces", surfaces}, {"volume_surfaces", volume_surfaces},
                        {"copies", copies},     {"order", order},
                        {"quota", quota},       {"outside", outside}};
  // Cases whose error sticks, and cases that need a limit, run by their names only.
  const int all = sizeof cases / sizeof *cases;
  return run_cases(cases, argc == 1 ? all - 2 : all, argc, argv);
}
