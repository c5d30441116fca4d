// Execution: launches, streams and events, callbacks, threads, functions, devices, errors, libraries.
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

struct Shape {
  double scale;
  int3 shift;
  char mark;
};

__global__ void scale(double* values, Shape shape, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = values[i] * shape.scale + shape.shift.x + shape.shift.y + shape.shift.z + shape.mark;
}

template <class T>
__global__ void reverse_block(T* values) {
  extern __shared__ unsigned char raw[];
  T* const shared = reinterpret_cast<T*>(raw);
  const unsigned i = threadIdx.x;
  shared[i] = values[blockIdx.x * blockDim.x + i];
  __syncthreads();
  values[blockIdx.x * blockDim.x + i] = shared[blockDim.x - 1 - i];
}

__global__ void spin(int* out, int rounds) {
  unsigned value = threadIdx.x;
  for (int i = 0; i < rounds; ++i) value = value * 1103515245u + 12345u;
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(value);
}

__global__ void add_one(int* value) {
  *value += 1;
}
__global__ void nothing() {}

__global__ void __launch_bounds__(128) bounded(int* out) {
  out[threadIdx.x] = threadIdx.x;
}

static void launches() {
  const int n = 1000;
  std::vector<double> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  double* device = nullptr;
  OK(cudaMalloc(&device, n * sizeof(double)));
  OK(cudaMemcpy(device, host.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  Shape shape = {0.5, make_int3(1, 2, 3), 4};
  int count = n;
  scale<<<4, 250>>>(device, shape, count);
  void* arguments[] = {&device, &shape, &count};
  OK(cudaLaunchKernel(scale, dim3(4), dim3(250), arguments, 0, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(250);
  OK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(scale), arguments));
  std::vector<double> back(n);
  OK(cudaMemcpy(back.data(), device, n * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    double value = host[i];
    for (int round = 0; round < 3; ++round) value = value * 0.5 + 10;
    CHECK(back[i] == value);
  }
  OK(cudaFree(device));

  short* words = nullptr;
  std::vector<short> order(512);
  for (int i = 0; i < 512; ++i) order[i] = static_cast<short>(i);
  OK(cudaMalloc(&words, 512 * sizeof(short)));
  OK(cudaMemcpy(words, order.data(), 512 * sizeof(short), cudaMemcpyHostToDevice));
  reverse_block<short><<<4, 128, 128 * sizeof(short)>>>(words);
  OK(cudaMemcpy(order.data(), words, 512 * sizeof(short), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 512; ++i) CHECK(order[i] == i / 128 * 128 + 127 - i % 128);
  OK(cudaFree(words));
}

static std::atomic<int> steps{0};

static void CUDART_CB count_step(void* data) {
  steps.fetch_add(*static_cast<int*>(data));
}

static void CUDART_CB stream_done(cudaStream_t stream, cudaError_t status, void* data) {
  CHECK(status == cudaSuccess);
  CHECK(stream == *static_cast<cudaStream_t*>(data));
  steps.fetch_add(100);
}

static void callbacks() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int* value = nullptr;
  OK(cudaMalloc(&value, sizeof(int)));
  OK(cudaMemsetAsync(value, 0, sizeof(int), stream));
  int one = 1, ten = 10;
  add_one<<<1, 1, 0, stream>>>(value);
  OK(cudaLaunchHostFunc(stream, count_step, &one));
  OK(cudaStreamAddCallback(stream, stream_done, &stream, 0));
  OK(cudaLaunchHostFunc(stream, count_step, &ten));
  add_one<<<1, 1, 0, stream>>>(value);
  int result = 0;
  OK(cudaMemcpyAsync(&result, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(result == 2);
  CHECK(steps.load() == 111);
  CHECK_CODE(cudaErrorInvalidValue, cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  OK(cudaFree(value));
  OK(cudaStreamDestroy(stream));
}

static void events() {
  cudaEvent_t start, end, untimed;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  cudaStream_t first, second;
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 0));
  int* out = nullptr;
  OK(cudaMalloc(&out, 4 * 64 * sizeof(int)));
  OK(cudaEventRecord(start, first));
  spin<<<4, 64, 0, first>>>(out, 20000);
  OK(cudaEventRecord(end, first));
  OK(cudaStreamWaitEvent(second, end, 0));
  add_one<<<1, 1, 0, second>>>(out);
  OK(cudaEventRecord(untimed, second));
  OK(cudaEventSynchronize(untimed));
  OK(cudaEventQuery(end));
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds > 0);
  CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
  (void)cudaGetLastError();
  unsigned expected = 0, first_value = 0;
  for (int i = 0; i < 20000; ++i) expected = expected * 1103515245u + 12345u;
  OK(cudaMemcpy(&first_value, out, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(first_value == expected + 1);
  unsigned int flags = 0;
  OK(cudaStreamGetFlags(second, &flags));
  CHECK(flags == cudaStreamNonBlocking);
  OK(cudaStreamQuery(first));
  OK(cudaFree(out));
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(end));
  OK(cudaEventDestroy(untimed));
}

static void functions() {
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, bounded));
  CHECK(attributes.maxThreadsPerBlock >= 1 && attributes.maxThreadsPerBlock <= 128);
  CHECK(attributes.sharedSizeBytes == 0);
  CHECK(attributes.ptxVersion == 75);  // the target, not the version of PTX
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 64, 0));
  CHECK(blocks >= 1);
  int grid = 0, block = 0;
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
  CHECK(grid >= 1 && block >= 1 && block <= 1024);
  OK(cudaFuncSetAttribute(reverse_block<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 16 * 1024));
  OK(cudaFuncGetAttributes(&attributes, reverse_block<int>));
  CHECK(attributes.maxDynamicSharedSizeBytes == 16 * 1024);
  OK(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferL1));
  const char* name = nullptr;
  OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(add_one)));
  CHECK(std::strstr(name, "add_one") != nullptr);
  size_t offset = 9, size = 0;
  OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(scale), 1, &offset, &size));
  CHECK(offset == 8 && size == sizeof(Shape));
  CHECK_CODE(cudaErrorInvalidDeviceFunction,
             cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&steps)));
  (void)cudaGetLastError();

  // A kernel's handle stands for the kernel.
  cudaKernel_t kernel = nullptr;
  cudaFunction_t function = nullptr;
  OK(cudaGetKernel(&kernel, add_one));
  OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add_one)));
  CHECK(function != nullptr);
  int* value = nullptr;
  OK(cudaMalloc(&value, sizeof(int)));
  OK(cudaMemset(value, 0, sizeof(int)));
  void* arguments[] = {&value};
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  int result = 0;
  OK(cudaMemcpy(&result, value, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(result == 1);
  OK(cudaFree(value));
}

static void devices() {
  int count = 0, device = -1, version = 0;
  OK(cudaGetDeviceCount(&count));
  CHECK(count >= 1);
  OK(cudaGetDevice(&device));
  CHECK(device == 0);
  OK(cudaDriverGetVersion(&version));
  CHECK(version >= 12000);
  OK(cudaRuntimeGetVersion(&version));
  CHECK(version == CUDART_VERSION);
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  int value = 0;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  CHECK(properties.multiProcessorCount == value && value > 0);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  CHECK(properties.sharedMemPerBlock == static_cast<size_t>(value));
  CHECK(properties.warpSize == 32 && properties.name[0] != '\0' && properties.major >= 3);
  CHECK(properties.maxGridSize[0] > 65535 && properties.maxThreadsDim[2] >= 1);
  size_t free_memory = 0, total = 0;
  OK(cudaMemGetInfo(&free_memory, &total));
  CHECK(free_memory <= total && total == properties.totalGlobalMem);
  char bus[32];
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(cudaDeviceGetByPCIBusId(&device, bus));
  CHECK(device == 0);
  int least = 0, greatest = 0;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least >= greatest);
  OK(cudaDeviceGetLimit(&total, cudaLimitStackSize));
  CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(count));
  CHECK_CODE(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, -1));
  (void)cudaGetLastError();
  OK(cudaSetDevice(0));
  OK(cudaInitDevice(0, 0, 0));
  cudaDeviceProp wish = {};
  OK(cudaChooseDevice(&device, &wish));
  CHECK(device >= 0 && device < count);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult outcome;
  OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &outcome));
  CHECK(entry != nullptr && outcome == cudaDriverEntryPointSuccess);
  OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &entry, 12000, cudaEnableDefault, &outcome));
  CHECK(outcome == cudaDriverEntryPointSymbolNotFound);
}

static void errors() {
  int* memory = nullptr;
  OK(cudaGetLastError());
  // A launch that no device can have.
  nothing<<<1, 4096>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  OK(cudaGetLastError());
  nothing<<<0, 32>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  nothing<<<dim3(1, 70000), 32>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  // More shared memory than there is: the shape is fine.
  nothing<<<1, 32, 1 << 30>>>();
  CHECK_CODE(cudaErrorInvalidValue, cudaGetLastError());
  // More memory than there is; later calls are not affected.
  CHECK_CODE(cudaErrorMemoryAllocation, cudaMalloc(&memory, size_t{1} << 60));
  CHECK(memory == nullptr);
  CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
  nothing<<<1, 32>>>();
  OK(cudaDeviceSynchronize());
  CHECK_CODE(cudaErrorInvalidValue, cudaFree(reinterpret_cast<void*>(0x1234)));
  CHECK_CODE(cudaErrorInvalidValue, cudaMalloc(static_cast<void**>(nullptr), 16));
  CHECK_CODE(cudaErrorInvalidValue, cudaGetLastError());
  // The error is the thread's own.
  (void)cudaMalloc(&memory, size_t{1} << 60);
  std::thread([] { OK(cudaGetLastError()); }).join();
  CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidSymbol)) == "cudaErrorInvalidSymbol");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
  void* table = nullptr;
  cudaUUID_t id = {};
  CHECK_CODE(cudaErrorNotSupported, cudaGetExportTable(const_cast<const void**>(&table), &id));
  CHECK_CODE(cudaErrorNotSupported, cudaGetLastError());
}

static void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([t] {
      cudaStream_t stream;
      OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      int* value = nullptr;
      OK(cudaMalloc(&value, sizeof(int)));
      OK(cudaMemcpyAsync(value, &t, sizeof(int), cudaMemcpyHostToDevice, stream));
      for (int i = 0; i < 50; ++i) add_one<<<1, 1, 0, stream>>>(value);
      OK(cudaGetLastError());
      int result = 0;
      OK(cudaMemcpyAsync(&result, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
      OK(cudaStreamSynchronize(stream));
      CHECK(result == t + 50);
      OK(cudaFree(value));
      OK(cudaStreamDestroy(stream));
    });
  }
  for (std::thread& thread : all) thread.join();
}

// Code that the program brings along, here as PTX.
static const char kPtx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 bias = 30;\n"
    ".visible .entry store(.param .u64 out, .param .u32 number)\n{\n"
    ".reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u32 %r1, [number];\n"
    "ld.global.u32 %r2, [bias];\nadd.u32 %r3, %r1, %r2;\nst.global.u32 [%rd2], %r3;\nret;\n}\n";

static void libraries() {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "store"));
  unsigned int count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  CHECK(count == 1);
  void* bias = nullptr;
  size_t size = 0;
  OK(cudaLibraryGetGlobal(&bias, &size, library, "bias"));
  CHECK(size == 4);
  int thirty = 0, number = 12;
  OK(cudaMemcpy(&thirty, bias, sizeof thirty, cudaMemcpyDeviceToHost));
  CHECK(thirty == 30);
  int* out = nullptr;
  OK(cudaMalloc(&out, sizeof(int)));
  void* arguments[] = {&out, &number};
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
  int result = 0;
  OK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result == 42);
  OK(cudaFree(out));
  CHECK_CODE(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "no_such_kernel"));
  (void)cudaGetLastError();
  OK(cudaLibraryUnload(library));
}

// Runs last: everything of the device is gone, and later calls start anew.
static void reset() {
  int* value = nullptr;
  OK(cudaMalloc(&value, sizeof(int)));
  OK(cudaDeviceReset());
  OK(cudaMalloc(&value, sizeof(int)));
  OK(cudaMemset(value, 0, sizeof(int)));
  add_one<<<1, 1>>>(value);
  int result = 0;
  OK(cudaMemcpy(&result, value, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(result == 1);
  std::thread([] {
    OK(cudaFree(nullptr));
    OK(cudaDeviceSynchronize());
  }).join();
}

int main(int argc, char** argv) {
  const Case cases[] = {{"launches", launches},   {"callbacks", callbacks}, {"events", events},
                        {"functions", functions}, {"devices", devices},     {"errors", errors},
                        {"threads", threads},     {"libraries", libraries}, {"reset", reset}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
