// Prints the bits of what kernels of several kinds compute, and of what the runtime answers: two runs are
// equal if their outputs are.
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kCount = 1 << 14;
constexpr int kBlock = 128;

__constant__ float weights[4];
__device__ unsigned int tickets;
__device__ float offset = 0.25F;

__global__ void smooth(float* out, const float* in, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  float sum = offset;
  for (int k = 0; k < 4; ++k) sum += weights[k] * in[(i + k) % count];
  out[i] = sum;
}

__global__ void sum_blocks(float* sums, const float* in) {
  extern __shared__ float part[];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = part[0];
    atomicAdd(&tickets, 1U);
  }
}

template <class Number>
__global__ void power(Number* values, Number base) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  Number value = 1;
  for (int k = 0; k < i % 13; ++k) value = value * base + 1;
  values[i] = value;
}

bool all_well = true;

void told(const char* what, cudaError_t error) {
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  all_well = all_well && error == cudaSuccess;
}

void print_bits(const char* what, const void* data, std::size_t bytes) {
  unsigned long long hash = 1469598103934665603ULL;  // FNV-1a
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ULL;
  std::printf("%s: %zu bytes, %016llx\n", what, bytes, hash);
}

template <class Number>
void print_powers(const char* what, Number base) {
  std::vector<Number> values(1024);
  Number* memory = nullptr;
  told("malloc", cudaMalloc(&memory, values.size() * sizeof(Number)));
  power<<<8, 128>>>(memory, base);
  told("launch", cudaGetLastError());
  told("copy", cudaMemcpy(values.data(), memory, values.size() * sizeof(Number), cudaMemcpyDefault));
  told("free", cudaFree(memory));
  print_bits(what, values.data(), values.size() * sizeof(Number));
}

void print_sums() {
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<float>((i * 37) % 101) / 7;
  const float some[4] = {0.1F, 0.2F, 0.3F, 0.4F};
  float *in = nullptr, *out = nullptr, *sums = nullptr;
  const std::size_t bytes = kCount * sizeof(float);
  told("malloc", cudaMalloc(&in, bytes));
  told("malloc", cudaMalloc(&out, bytes));
  told("malloc", cudaMallocManaged(&sums, kCount / kBlock * sizeof(float)));
  told("to symbol", cudaMemcpyToSymbol(weights, some, sizeof some));
  cudaStream_t stream = nullptr;
  cudaEvent_t end = nullptr;
  told("stream", cudaStreamCreate(&stream));
  told("event", cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
  told("copy", cudaMemcpyAsync(in, values.data(), bytes, cudaMemcpyHostToDevice, stream));
  smooth<<<kCount / kBlock, kBlock, 0, stream>>>(out, in, kCount);
  sum_blocks<<<kCount / kBlock, kBlock, kBlock * sizeof(float), stream>>>(sums, out);
  told("record", cudaEventRecord(end, stream));
  told("wait", cudaEventSynchronize(end));
  told("copy", cudaMemcpy(values.data(), out, bytes, cudaMemcpyDeviceToHost));
  unsigned int taken = 0;
  told("from symbol", cudaMemcpyFromSymbol(&taken, tickets, sizeof taken));
  print_bits("smoothed", values.data(), bytes);
  print_bits("sums", sums, kCount / kBlock * sizeof(float));
  std::printf("tickets: %u\n", taken);
  told("destroy", cudaStreamDestroy(stream));
  told("destroy", cudaEventDestroy(end));
  told("free", cudaFree(in));
  told("free", cudaFree(out));
  told("free", cudaFree(sums));
}

void print_answers() {
  int version = 0, blocks = 0;
  cudaFuncAttributes attributes;
  std::memset(&attributes, 0, sizeof attributes);
  cudaDeviceProp properties;
  told("version", cudaRuntimeGetVersion(&version));
  told("attributes", cudaFuncGetAttributes(&attributes, sum_blocks));
  told("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_blocks, kBlock, 512));
  told("properties", cudaGetDeviceProperties(&properties, 0));
  std::printf("version %d, %d threads, %d blocks, device %s %d.%d\n", version, attributes.maxThreadsPerBlock,
              blocks, properties.name, properties.major, properties.minor);
  std::printf("a bad copy: %s\n",
              cudaGetErrorString(cudaMemcpy(nullptr, nullptr, 8, cudaMemcpyHostToDevice)));
  std::printf("it stays once: %s, %s\n", cudaGetErrorName(cudaGetLastError()),
              cudaGetErrorName(cudaGetLastError()));
}

}  // namespace

int main() {
  print_powers<int>("powers of int", 3);
  print_powers<float>("powers of float", 1.25F);
  print_powers<double>("powers of double", 0.75);
  print_sums();
  print_answers();
  return all_well ? 0 : 1;
}
