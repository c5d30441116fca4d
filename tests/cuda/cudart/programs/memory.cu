// Memory: symbols, pitched and three-dimensional memory, arrays, pinned, registered and managed memory,
// pools.
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "check.hpp"

__constant__ int table[64];
__device__ int counter;
__device__ float results[256];
static __device__ int hidden = 41;
__managed__ int managed_value = 5;

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void from_symbols(float scale) {
  const int i = threadIdx.x;
  results[i] = static_cast<float>(table[i % 64]) * scale;
  if (i == 0) {
    counter += 1;
    hidden += 1;
  }
}

__global__ void add_to_managed(int value) {
  managed_value += value;
}

__global__ void number_rows(unsigned char* memory, size_t pitch, int width, int height, int depth) {
  const int x = threadIdx.x;
  const int y = blockIdx.x;
  const int z = blockIdx.y;
  if (x < width && y < height && z < depth)
    memory[(static_cast<size_t>(z) * height + y) * pitch + x] = static_cast<unsigned char>(x + 3 * y + 7 * z);
}

__global__ void increment(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

static void vector_add() {
  const int n = 10000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i * 0.5f, b[i] = i * 0.25f;
  float *device_a, *device_b, *device_c;
  OK(cudaMalloc(&device_a, n * sizeof(float)));
  OK(cudaMalloc(&device_b, n * sizeof(float)));
  OK(cudaMalloc(&device_c, n * sizeof(float)));
  OK(cudaMemcpy(device_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  OK(cudaMemcpy(device_b, b.data(), n * sizeof(float), cudaMemcpyDefault));
  add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
  OK(cudaGetLastError());
  OK(cudaMemcpy(c.data(), device_c, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(c[i] == a[i] + b[i]);
  std::vector<float> copy(n);
  OK(cudaMemcpy(copy.data(), c.data(), n * sizeof(float), cudaMemcpyHostToHost));
  CHECK(copy == c);
  OK(cudaFree(device_a));
  OK(cudaFree(device_b));
  OK(cudaFree(device_c));
  OK(cudaFree(nullptr));
  void* nothing = &copy;
  OK(cudaMalloc(&nothing, 0));
  CHECK(nothing == nullptr);
}

static void symbols() {
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = i * i;
  OK(cudaMemcpyToSymbol(table, host, sizeof host));
  const int special = -8;
  OK(cudaMemcpyToSymbol(table, &special, sizeof special, 5 * sizeof(int)));
  host[5] = special;
  const int zero = 0;
  OK(cudaMemcpyToSymbolAsync(counter, &zero, sizeof zero, 0, cudaMemcpyHostToDevice, nullptr));
  from_symbols<<<1, 256>>>(2.0f);
  from_symbols<<<1, 256>>>(2.0f);
  float back[256];
  OK(cudaMemcpyFromSymbol(back, results, sizeof back));
  for (int i = 0; i < 256; ++i) CHECK(back[i] == 2.0f * host[i % 64]);
  int count = 0;
  OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == 2);
  OK(cudaMemcpyFromSymbol(&count, hidden, sizeof count));
  CHECK(count == 43);

  size_t size = 0;
  void* address = nullptr;
  OK(cudaGetSymbolSize(&size, results));
  CHECK(size == sizeof results);
  OK(cudaGetSymbolAddress(&address, results));
  float one = 0;
  OK(cudaMemcpy(&one, static_cast<float*>(address) + 7, sizeof one, cudaMemcpyDeviceToHost));
  CHECK(one == back[7]);
  // The range must lie within the symbol, and the direction must fit.
  CHECK_CODE(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, host, sizeof host, 4));
  CHECK_CODE(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(table, host, 4, 0, cudaMemcpyDeviceToHost));
  static int no_symbol = 0;
  CHECK_CODE(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(no_symbol, host, 4));
  CHECK_CODE(cudaErrorInvalidSymbol, cudaGetLastError());
}

static void managed() {
  CHECK(managed_value == 5);
  managed_value = 7;
  add_to_managed<<<1, 1>>>(10);
  OK(cudaDeviceSynchronize());
  CHECK(managed_value == 17);
  void* address = nullptr;
  OK(cudaGetSymbolAddress(&address, managed_value));
  CHECK(address == &managed_value);

  int* values = nullptr;
  const int n = 1000;
  OK(cudaMallocManaged(&values, n * sizeof(int)));
  for (int i = 0; i < n; ++i) values[i] = i;
  increment<<<(n + 127) / 128, 128>>>(values, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(values[i] == i + 1);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, values));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  OK(cudaFree(values));
}

static void pitched() {
  const int width = 70, height = 20;
  unsigned char* memory = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&memory, &pitch, width, height));
  CHECK(pitch >= width);
  OK(cudaMemset2D(memory, pitch, 0xAB, width, height));
  std::vector<unsigned char> host(90 * height, 1);
  OK(cudaMemcpy2D(host.data(), 90, memory, pitch, width, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < 90; ++x) CHECK(host[y * 90 + x] == (x < width ? 0xAB : 1));
  number_rows<<<dim3(height, 1), 128>>>(memory, pitch, width, height, 1);
  OK(cudaMemcpy2DAsync(host.data(), 90, memory, pitch, width, height, cudaMemcpyDeviceToHost, nullptr));
  OK(cudaStreamSynchronize(nullptr));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) CHECK(host[y * 90 + x] == static_cast<unsigned char>(x + 3 * y));
  CHECK_CODE(cudaErrorInvalidPitchValue,
             cudaMemcpy2D(host.data(), width - 1, memory, pitch, width, height, cudaMemcpyDeviceToHost));
  OK(cudaFree(memory));
}

static void boxes() {
  const cudaExtent extent = make_cudaExtent(33, 9, 5);
  cudaPitchedPtr memory;
  OK(cudaMalloc3D(&memory, extent));
  CHECK(memory.pitch >= 33 && memory.xsize == 33 && memory.ysize == 9);
  number_rows<<<dim3(9, 5), 64>>>(static_cast<unsigned char*>(memory.ptr), memory.pitch, 33, 9, 5);
  // A part of the memory: x 2..21, y 1..6, z 2..3.
  std::vector<unsigned char> host(20 * 6 * 2, 0);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = memory;
  copy.srcPos = make_cudaPos(2, 1, 2);
  copy.dstPtr = make_cudaPitchedPtr(host.data(), 20, 20, 6);
  copy.extent = make_cudaExtent(20, 6, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 20; ++x)
        CHECK(host[(z * 6 + y) * 20 + x] == static_cast<unsigned char>(x + 2 + 3 * (y + 1) + 7 * (z + 2)));
  // A part of the slices is filled: the bytes around it stay.
  OK(cudaMemset3D(memory, 0x55, make_cudaExtent(10, 4, 2)));
  std::vector<unsigned char> all(33 * 9 * 5);
  copy = {};
  copy.srcPtr = memory;
  copy.dstPtr = make_cudaPitchedPtr(all.data(), 33, 33, 9);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&copy, nullptr));
  OK(cudaStreamSynchronize(nullptr));
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 33; ++x) {
        const bool filled = x < 10 && y < 4 && z < 2;
        CHECK(all[(z * 9 + y) * 33 + x] == (filled ? 0x55 : static_cast<unsigned char>(x + 3 * y + 7 * z)));
      }
  OK(cudaFree(memory.ptr));
}

static void arrays() {
  const int width = 16, height = 8;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t array = nullptr, other = nullptr;
  OK(cudaMallocArray(&array, &format, width, height));
  OK(cudaMallocArray(&other, &format, width, height));
  std::vector<float2> host(width * height), back(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = make_float2(i, -i);
  const size_t row = width * sizeof(float2);
  OK(cudaMemcpy2DToArray(array, 0, 0, host.data(), row, row, height, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, row, height, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2DFromArray(back.data(), row, other, 0, 0, row, height, cudaMemcpyDeviceToHost));
  CHECK(std::memcmp(host.data(), back.data(), row * height) == 0);

  cudaChannelFormatDesc found;
  cudaExtent extent;
  unsigned int flags = 7;
  OK(cudaArrayGetInfo(&found, &extent, &flags, array));
  CHECK(found.x == 32 && found.y == 32 && found.z == 0 && found.w == 0 &&
        found.f == cudaChannelFormatKindFloat);
  CHECK(extent.width == width && extent.height == height && extent.depth == 0 && flags == 0);

  // Extents and positions are in elements where an array takes part.
  std::memset(back.data(), 0, row * height);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.srcPos = make_cudaPos(3, 2, 0);
  copy.dstPtr = make_cudaPitchedPtr(back.data(), row, width, height);
  copy.extent = make_cudaExtent(5, 4, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) CHECK(back[y * width + x].x == host[(y + 2) * width + x + 3].x);
  CHECK(back[5].x == 0);

  cudaArray_t bad = nullptr;
  const cudaChannelFormatDesc uneven = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
  CHECK_CODE(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&bad, &uneven, 4, 4));
  (void)cudaGetLastError();
  OK(cudaFreeArray(array));
  OK(cudaFreeArray(other));
  OK(cudaFreeArray(nullptr));
}

static void host_memory() {
  const int n = 5000;
  int* pinned = nullptr;
  int* device = nullptr;
  OK(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&device, pinned, 0));
  for (int i = 0; i < n; ++i) pinned[i] = i;
  increment<<<(n + 127) / 128, 128>>>(device, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(pinned[i] == i + 1);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
  unsigned int flags = 0;
  OK(cudaHostGetFlags(&flags, pinned));
  CHECK((flags & cudaHostAllocMapped) != 0);
  OK(cudaFreeHost(pinned));
  OK(cudaMallocHost(&pinned, 64));
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(nullptr));
  OK(cudaMalloc(&device, 64));
  OK(cudaPointerGetAttributes(&attributes, device));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0 &&
        attributes.devicePointer == device);
  OK(cudaFree(device));
}

// Kernels and the program share registered memory, which need not have one address for both.
static void registered_memory() {
  const int n = 5000;
  std::vector<int> own(n, 3);
  int* device = nullptr;
  OK(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
  CHECK_CODE(cudaErrorHostMemoryAlreadyRegistered,
             cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&device, own.data(), 0));
  increment<<<(n + 127) / 128, 128>>>(device, n);
  OK(cudaDeviceSynchronize());
  CHECK(own[0] == 4 && own[n - 1] == 4);
  for (const void* address : {static_cast<const void*>(&own[2]), static_cast<const void*>(device + 2)}) {
    cudaPointerAttributes told;
    OK(cudaPointerGetAttributes(&told, address));
    CHECK(told.type == cudaMemoryTypeHost && told.hostPointer == &own[2] && told.devicePointer == device + 2);
  }
  OK(cudaMalloc(&device, n * sizeof(int)));
  OK(cudaMemcpy(device, own.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  increment<<<(n + 127) / 128, 128>>>(device, n);
  OK(cudaMemcpy(own.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(own[0] == 5 && own[n - 1] == 5);
  OK(cudaFree(device));
  OK(cudaHostUnregister(own.data()));
  CHECK_CODE(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
  (void)cudaGetLastError();

  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, own.data()));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
}

// Each thread has memory of its own; the waits of the others bring it up to date, too.
static void registered_by_threads() {
  std::vector<std::thread> all;
  for (int number = 0; number < 4; ++number) {
    all.emplace_back([number] {
      const int n = 700;
      for (int round = 0; round < 5; ++round) {
        std::vector<int> own(n, number);
        int* device = nullptr;
        OK(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
        OK(cudaHostGetDevicePointer(&device, own.data(), 0));
        for (int step = 1; step <= 10; ++step) {
          own[5] += 1000;
          increment<<<(n + 127) / 128, 128>>>(device, n);
          OK(cudaStreamSynchronize(nullptr));
          CHECK(own[0] == number + step && own[n - 1] == number + step);
          CHECK(own[5] == number + 1001 * step);
        }
        OK(cudaHostUnregister(own.data()));
      }
    });
  }
  for (std::thread& one : all) one.join();
}

static void pools() {
  const int n = 2000;
  int* values = nullptr;
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMallocAsync(&values, n * sizeof(int), stream));
  OK(cudaMemsetAsync(values, 0, n * sizeof(int), stream));
  increment<<<(n + 127) / 128, 128, 0, stream>>>(values, n);
  std::vector<int> host(n, -1);
  OK(cudaMemcpyAsync(host.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(values, stream));
  OK(cudaStreamSynchronize(stream));
  for (int value : host) CHECK(value == 1);
  OK(cudaStreamDestroy(stream));

  cudaMemPool_t pool = nullptr;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = 1 << 20, read = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  CHECK(read == threshold);
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaMallocFromPoolAsync(&values, 64, pool, nullptr));
  OK(cudaFreeAsync(values, nullptr));
  OK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  const Case cases[] = {{"vector_add", vector_add},
                        {"symbols", symbols},
                        {"managed", managed},
                        {"pitched", pitched},
                        {"boxes", boxes},
                        {"arrays", arrays},
                        {"host_memory", host_memory},
                        {"pools", pools},
                        {"registered_memory", registered_memory},
                        {"registered_by_threads", registered_by_threads}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
