// Kernels of the kind that programs are made of. nvcc compiles them to PTX only; kernels_test.cpp runs the
// translation.
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

constexpr int kTile = 16;

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile];
  __shared__ float right[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n; tile += kTile) {
    left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void reduce(const int* in, int* out, int n) {
  __shared__ int warps[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

extern "C" __global__ void scan(const int* in, int* out) {
  extern __shared__ int values[];
  const int i = threadIdx.x;
  const int base = blockIdx.x * blockDim.x;
  values[i] = in[base + i];
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    const int other = i >= step ? values[i - step] : 0;
    __syncthreads();
    values[i] += other;
    __syncthreads();
  }
  out[base + i] = values[i];
}

extern "C" __global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8) {
    if (x < width && y + row < height) tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int row = 0; row < 32; row += 8) {
    if (x < height && y + row < width) out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
  }
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    if (local[i] != 0) atomicAdd(&bins[i], local[i]);
  }
}

extern "C" __global__ void early_exit(const int* in, int* out, int n) {
  __shared__ int last[64];
  if (static_cast<int>(threadIdx.x) >= n) return;
  last[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = last[n - 1 - threadIdx.x];
}

// The last block to finish adds up the results of all blocks.
__device__ unsigned finished = 0;
extern "C" __global__ void last_block(const int* in, int* partial, int* out) {
  __shared__ int sums[64];
  __shared__ bool is_last;
  sums[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) {
    int total = 0;
    for (int block = 0; block < gridDim.x; ++block) total += partial[block];
    *out = total;
  }
}

__device__ __noinline__ int collatz(int x) {
  int steps = 0;
  while (x != 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++steps;
  }
  return steps;
}

extern "C" __global__ void dispatch(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = in[i];
  switch (r & 15) {
    case 0: r = collatz(r + 1); break;
    case 1: r = r * 7; break;
    case 2: r = r ^ 0x55; break;
    case 3: r = __popc(r); break;
    case 4: r = __clz(r); break;
    case 5: r = r / 3; break;
    case 6: r = r % 10; break;
    case 7: r = -r; break;
    case 8: r = collatz(r); break;
    case 9: r = r << 3; break;
    case 10: r = r >> 2; break;
    default: r = r + 1000; break;
  }
  out[i] = r;
}

struct Point {
  double x;
  char tag;
  float weight[3];
};
__device__ __noinline__ Point moved(Point p, double by) {
  p.x += by;
  p.weight[p.tag % 3] *= 2;
  return p;
}
extern "C" __global__ void structs(Point p, Point* out) {
  Point q = p;
  q.tag = static_cast<char>(threadIdx.x);
  out[threadIdx.x] = moved(q, threadIdx.x * 0.5);
}

__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ float weights[2][3] = {{1.5f, 2.5f}, {3.5f}};
__device__ const int* pointer = table + 2;
struct Named {
  int number;
  const char* name;
};
__device__ Named names[2] = {{7, "seven"}, {11, "eleven"}};
extern "C" __global__ void variables(int* out) {
  const int i = threadIdx.x;
  out[i] = table[i] + pointer[i % 4] * 10 + static_cast<int>(weights[i / 4][i % 3] * 2) * 100 +
           names[i % 2].name[0] * 1000 + names[i % 2].number * 1000000;
}

extern "C" __global__ void doubles(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  out[5 * i] = sqrt(fabs(x));
  out[5 * i + 1] = exp(-fabs(x));
  out[5 * i + 2] = sin(x);
  out[5 * i + 3] = log(fabs(x) + 1);
  out[5 * i + 4] = pow(fabs(x), 0.3);
}

extern "C" __global__ void floats(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[6 * i] = expf(x);
  out[6 * i + 1] = sinf(x * 1000);
  out[6 * i + 2] = logf(fabsf(x) + 0.25f);
  out[6 * i + 3] = powf(fabsf(x), 1.7f);
  out[6 * i + 4] = fmodf(x, 0.7f);
  out[6 * i + 5] = rsqrtf(fabsf(x) + 1) + floorf(x) + erff(x);
}

extern "C" __global__ void halves(const __half* in, __half* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = __hfma(in[i], __float2half(2.0f), __float2half(0.5f));
}

// Numbers of local memory that the compiler cannot keep in registers.
extern "C" __global__ void local_array(const int* in, int* out) {
  int values[16];
  for (int i = 0; i < 16; ++i) values[i] = i * 5;
  for (int i = 0; i < 16; ++i) values[(i * 7 + in[i]) & 15] = i + threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum = sum * 3 + values[in[i] & 15];
  out[threadIdx.x] = sum;
}

// Reads of the cycle counter, whole and its lower half, before and after work that cannot be left out.
extern "C" __global__ void ticks(volatile int* work, unsigned long long* whole, unsigned* half) {
  whole[0] = clock64();
  half[0] = static_cast<unsigned>(clock());
  for (int i = 0; i < 1000; ++i) work[0] = work[0] + 1;
  whole[1] = clock64();
  half[1] = static_cast<unsigned>(clock());
}
