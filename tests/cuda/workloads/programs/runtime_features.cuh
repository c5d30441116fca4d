// Programs that use what the runtime offers: streams, callbacks, events, every kind of memory, symbols.
#ifndef FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_RUNTIME_FEATURES_CUH
#define FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_RUNTIME_FEATURES_CUH

#include <array>
#include <vector>

#include "tests/cuda/workloads/programs/data_parallel.cuh"

__global__ void scale(float* values, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= factor;
}

/// A launch on part of the values; with a count of 0 it does nothing.
inline void launch_scale(float* values, float factor, int count, cudaStream_t stream) {
  scale<<<(count + 127) / 128, 128, 0, stream>>>(values, factor, count);
  OK(cudaGetLastError());
}

/// Copies in, kernels and copies out of several streams, with callbacks in their order.
inline void streams() {
  constexpr int kStreams = 3;
  constexpr int kCount = 5'000;
  constexpr int kChunk = kCount * static_cast<int>(sizeof(float));
  float* host = nullptr;
  OK(cudaMallocHost(&host, kStreams * kChunk));
  for (int i = 0; i < kStreams * kCount; ++i) host[i] = static_cast<float>(i);
  float* device = nullptr;
  OK(cudaMalloc(&device, kStreams * kChunk));
  struct Log {
    int called = 0;
    cudaError_t status = cudaErrorUnknown;
  };
  std::array<Log, kStreams> logs{};
  std::array<cudaStream_t, kStreams> all{};
  for (int s = 0; s < kStreams; ++s) {
    cudaStream_t& stream = all[static_cast<std::size_t>(s)];
    Log* const log = &logs[static_cast<std::size_t>(s)];
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    float* const in = host + s * kCount;
    float* const values = device + s * kCount;
    OK(cudaMemcpyAsync(values, in, kChunk, cudaMemcpyHostToDevice, stream));
    launch_scale(values, static_cast<float>(s + 2), kCount, stream);
    OK(cudaMemcpyAsync(in, values, kChunk, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamAddCallback(
        stream,
        [](cudaStream_t, cudaError_t status, void* data) {
          static_cast<Log*>(data)->status = status;
          static_cast<Log*>(data)->called = 1;
        },
        log, 0));
    OK(cudaLaunchHostFunc(
        stream, [](void* data) { static_cast<Log*>(data)->called *= 2; }, log));
  }
  for (int s = 0; s < kStreams; ++s) {
    OK(cudaStreamSynchronize(all[static_cast<std::size_t>(s)]));
    OK(cudaStreamQuery(all[static_cast<std::size_t>(s)]));
    const Log& log = logs[static_cast<std::size_t>(s)];
    CHECK(log.called == 2 && log.status == cudaSuccess);
    for (int i = s * kCount; i < (s + 1) * kCount; ++i) {
      CHECK(host[i] == static_cast<float>(i) * static_cast<float>(s + 2));
    }
    OK(cudaStreamDestroy(all[static_cast<std::size_t>(s)]));
  }
  OK(cudaFreeHost(host));
  OK(cudaFree(device));
}

/// Times go up along a stream, and one stream waits for another's event.
inline void event_timing() {
  constexpr int kCount = 1'000;
  float* const values = upload(std::vector<float>(kCount, 1.0F));
  cudaStream_t first = nullptr, second = nullptr;
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreate(&second));
  std::array<cudaEvent_t, 3> events{};
  for (cudaEvent_t& event : events) OK(cudaEventCreate(&event));
  OK(cudaEventRecord(events[0], first));
  for (int i = 0; i < 10; ++i) launch_scale(values, 2.0F, kCount, first);
  OK(cudaEventRecord(events[1], first));
  OK(cudaStreamWaitEvent(second, events[1], 0));
  launch_scale(values, 3.0F, kCount, second);
  OK(cudaEventRecord(events[2], second));
  OK(cudaEventSynchronize(events[2]));
  for (cudaEvent_t event : events) OK(cudaEventQuery(event));
  float work = -1, all = -1, none = -1;
  OK(cudaEventElapsedTime(&work, events[0], events[1]));
  OK(cudaEventElapsedTime(&all, events[0], events[2]));
  OK(cudaEventElapsedTime(&none, events[1], events[1]));
  CHECK(work > 0 && all >= work && none == 0);
  for (float value : download(values, kCount)) CHECK(value == 3'072.0F);
  for (cudaEvent_t event : events) OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  OK(cudaFree(values));
}

/// The device works in the host's own memory: allocated page-locked, and registered later.
inline void host_memory() {
  constexpr int kCount = 4'096;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  float* mapped = nullptr;
  OK(cudaHostAlloc(&mapped, kBytes, cudaHostAllocMapped));
  for (int i = 0; i < kCount; ++i) mapped[i] = static_cast<float>(i);
  float* seen = nullptr;
  OK(cudaHostGetDevicePointer(&seen, mapped, 0));
  launch_scale(seen, 2.0F, kCount, nullptr);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) CHECK(mapped[i] == 2.0F * static_cast<float>(i));

  std::vector<float> own(kCount, 5.0F);
  OK(cudaHostRegister(own.data(), kBytes, cudaHostRegisterDefault));
  float* const values = upload(std::vector<float>(kCount, 1.0F));
  OK(cudaMemcpyAsync(values, own.data(), kBytes, cudaMemcpyHostToDevice, nullptr));
  launch_scale(values, 4.0F, kCount, nullptr);
  OK(cudaMemcpyAsync(own.data(), values, kBytes, cudaMemcpyDeviceToHost, nullptr));
  OK(cudaStreamSynchronize(nullptr));
  for (float value : own) CHECK(value == 20.0F);
  OK(cudaHostUnregister(own.data()));
  OK(cudaFreeHost(mapped));
  OK(cudaFree(values));
}

/// An image through pitched memory and an array and back.
inline void pitched_and_arrays() {
  constexpr std::size_t kWidth = 100;
  constexpr std::size_t kHeight = 30;
  constexpr std::size_t kRow = kWidth * sizeof(float);
  std::vector<float> image;
  for (std::size_t i = 0; i < kWidth * kHeight; ++i) image.push_back(static_cast<float>(i));
  void* pitched = nullptr;
  std::size_t pitch = 0;
  OK(cudaMallocPitch(&pitched, &pitch, kRow, kHeight));
  CHECK(pitch >= kRow);
  OK(cudaMemcpy2D(pitched, pitch, image.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice));
  for (std::size_t row = 0; row < kHeight; ++row) {
    launch_scale(reinterpret_cast<float*>(static_cast<char*>(pitched) + row * pitch), static_cast<float>(row),
                 static_cast<int>(kWidth), nullptr);
  }
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaMallocArray(&array, &format, kWidth, kHeight));
  OK(cudaMemcpy2DToArray(array, 0, 0, pitched, pitch, kRow, kHeight, cudaMemcpyDeviceToDevice));
  std::vector<float> got(image.size());
  OK(cudaMemcpy2DFromArray(got.data(), kRow, array, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < image.size(); ++i) {
    CHECK(got[i] == image[i] * static_cast<float>(i / kWidth));
  }
  OK(cudaFreeArray(array));
  OK(cudaFree(pitched));
}

__constant__ float polynomial[4];
__device__ unsigned evaluations;

__global__ void evaluate(float* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const float x = values[i];
  values[i] = polynomial[0] + x * (polynomial[1] + x * (polynomial[2] + x * polynomial[3]));
  atomicAdd(&evaluations, 1U);
}

inline void symbols() {
  constexpr int kCount = 777;
  const std::array<float, 4> coefficients{1, -2, 3, 0.5F};
  const unsigned zero = 0;
  OK(cudaMemcpyToSymbol(polynomial, coefficients.data(), sizeof coefficients));
  OK(cudaMemcpyToSymbol(evaluations, &zero, sizeof zero));
  std::vector<float> inputs;
  for (int i = 0; i < kCount; ++i) inputs.push_back(static_cast<float>(i % 16));
  float* const values = upload(inputs);
  evaluate<<<(kCount + 127) / 128, 128>>>(values, kCount);
  OK(cudaGetLastError());
  const std::vector<float> got = download(values, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const float x = inputs[i];  // small whole numbers: exact in any order
    CHECK(got[i] == 1.0F - 2.0F * x + 3.0F * x * x + 0.5F * x * x * x);
  }
  unsigned counted = 0;
  OK(cudaMemcpyFromSymbol(&counted, evaluations, sizeof counted));
  CHECK(counted == kCount);
  void* address = nullptr;
  std::size_t size = 0;
  OK(cudaGetSymbolAddress(&address, evaluations));
  OK(cudaGetSymbolSize(&size, polynomial));
  CHECK(address != nullptr && size == sizeof coefficients);
  OK(cudaFree(values));
}

#endif  // FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_RUNTIME_FEATURES_CUH
