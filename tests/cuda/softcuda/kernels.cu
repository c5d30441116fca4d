// Kernels for the tests of the software driver: each shows one thing that the driver carries to a kernel or
// back.
#include <cooperative_groups.h>

#include <cassert>
#include <cstdio>

__device__ int counter = 7;
__device__ float bias[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__constant__ int table[64];
__device__ int* counter_address = &counter;

extern "C" __global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) sum[i] = a[i] + b[i] + bias[i % 4];
}

extern "C" __global__ void increment(unsigned* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += 1;
}

extern "C" __global__ void append(unsigned* number, unsigned digit) {
  *number = *number * 10 + digit;  // tells the order of launches
}

/// Writes a word, and stays until the program lets it go.
extern "C" __global__ void signal(volatile unsigned* word, unsigned value, volatile unsigned* until) {
  *word = value;
  __threadfence_system();
  while (*until == 0) __threadfence_system();
}

extern "C" __global__ void count(int times) {
  if (threadIdx.x < static_cast<unsigned>(times)) atomicAdd(counter_address, table[threadIdx.x % 64]);
}

extern "C" __global__ void reverse(int* values) {
  extern __shared__ int block[];
  block[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  values[blockIdx.x * blockDim.x + threadIdx.x] = block[blockDim.x - 1 - threadIdx.x];
}

struct Mixed {
  short s;
  double d;
  char c;
};
extern "C" __global__ void parameters(char c, double d, short s, Mixed mixed, float f, double* out) {
  out[0] = c;
  out[1] = d;
  out[2] = s;
  out[3] = mixed.s;
  out[4] = mixed.d;
  out[5] = mixed.c;
  out[6] = f;
}

extern "C" __global__ void place(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

extern "C" __global__ void say(int number, double value, const char* word) {
  printf("%d|%5.2f|%s|%c|%llx|%%\n", number, value, word, 'x', 0x123456789abcULL);
}

extern "C" __global__ void expect_small(int value) { assert(value < 5); }

extern "C" __global__ void stop() { asm volatile("trap;"); }

extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }

extern "C" __global__ void fixed_shared(int* out) {
  __shared__ int block[256];
  block[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = block[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void read_texture(cudaTextureObject_t texture, float4* out, float step) {
  out[threadIdx.x] = tex2D<float4>(texture, (threadIdx.x + 0.5f) * step, 0.5f * step);
}

extern "C" __global__ void write_surface(cudaSurfaceObject_t surface, int value) {
  surf2Dwrite(value + static_cast<int>(threadIdx.x), surface, static_cast<int>(threadIdx.x) * 4, 0);
}

__device__ __noinline__ unsigned deep(unsigned n) { return n == 0 ? 1 : (deep(n - 1) * 3) ^ n; }
extern "C" __global__ void recurse(unsigned* out, unsigned n) { *out = deep(n); }

extern "C" __global__ void allocate(void** out, unsigned long long bytes) { *out = malloc(bytes); }
extern "C" __global__ void release(void** block) { free(*block); }

extern "C" __global__ void call_at(void (*function)()) { function(); }

// Each block adds the number of the block after it, in every round, which it has only behind the grid's barrier.
extern "C" __global__ void add_neighbours(int* values, int rounds) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int round = 0; round < rounds; ++round) {
    const int next = values[(blockIdx.x + 1) % gridDim.x];
    grid.sync();
    if (threadIdx.x == 0) values[blockIdx.x] += next;
    grid.sync();
  }
}
