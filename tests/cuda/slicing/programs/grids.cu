// Kernels whose results depend on the places of their blocks in the grid and on the grid's size. nvcc
// compiles them to PTX; equality_test.cpp runs the translation whole and in parts. All kernels take the same
// parameters, of which the last ends at an odd offset. `out` has room for every thread of the grid.

struct Place {
  unsigned block;
  unsigned thread;
};

__device__ unsigned mixed(unsigned value) {
  value ^= value >> 16;
  value *= 0x7feb352dU;
  value ^= value >> 15;
  value *= 0x846ca68bU;
  return value ^ (value >> 16);
}

__device__ unsigned block_of_grid() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__device__ unsigned thread_of_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

extern "C" __global__ void everything(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  unsigned value = mixed(blockIdx.x + salt);
  value = mixed(value + blockIdx.y);
  value = mixed(value + blockIdx.z);
  value = mixed(value + gridDim.x);
  value = mixed(value + gridDim.y);
  value = mixed(value + gridDim.z);
  out[block_of_grid() * threads_of_block() + thread_of_block()] = value + in[thread_of_block() % n];
}

extern "C" __global__ void early_exit(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || blockIdx.x % 3 == salt % 3) return;
  out[i] = in[i] * 3 + gridDim.x;
}

extern "C" __global__ void grid_stride(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i] + salt + mixed(blockIdx.x);
  }
}

extern "C" __global__ void reversed_tile(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  __shared__ unsigned tile[256];
  const unsigned own = thread_of_block();
  const unsigned first = block_of_grid() * threads_of_block();
  tile[own] = in[(first + own) % n];
  __syncthreads();
  out[first + own] = tile[threads_of_block() - 1 - own] ^ salt;
}

extern "C" __global__ void histogram(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  __shared__ unsigned bins[16];
  if (thread_of_block() < 16) bins[thread_of_block()] = 0;
  __syncthreads();
  const unsigned i = block_of_grid() * threads_of_block() + thread_of_block();
  atomicAdd(&bins[(in[i % n] + salt) % 16], 1u + blockIdx.y);
  __syncthreads();
  if (thread_of_block() < 16) atomicAdd(&out[thread_of_block()], bins[thread_of_block()] * gridDim.z);
}

__device__ unsigned blocks_done;  // back to zero after every launch

// The last block that ends sums up the results of all blocks: atomics with the size of the whole grid.
extern "C" __global__ void last_block_sums(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  __shared__ bool last;
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  if (thread_of_block() == 0) {
    out[1 + block_of_grid()] = mixed(in[block_of_grid() % n] + salt);
    __threadfence();
    last = atomicInc(&blocks_done, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  if (!last || thread_of_block() != 0) return;
  unsigned sum = 0;
  for (unsigned i = 0; i < blocks; ++i) sum += out[1 + i];
  out[0] = sum;
}

__device__ __noinline__ unsigned row_of_grid(unsigned weight) { return blockIdx.y * weight + gridDim.y; }

__device__ __noinline__ unsigned deeper(const unsigned* in, unsigned weight) {
  unsigned sum = 0;
  for (unsigned i = 0; i <= weight % 3; ++i) sum = mixed(sum + in[i] + row_of_grid(weight));
  return sum;
}

__device__ __noinline__ Place place(unsigned salt) {
  return {block_of_grid() + (salt & 0), thread_of_block()};
}

extern "C" __global__ void in_functions(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  const Place own = place(salt);
  unsigned value = own.thread;
  if (own.thread % 2 == 0) value += deeper(in, salt);
  if (blockIdx.x > n) value += row_of_grid(7);
  out[own.block * threads_of_block() + own.thread] = value;
}

// The kernel reads none of the values itself; the function that it calls does.
extern "C" __global__ void only_in_functions(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  atomicAdd(&out[in[0] % n], deeper(in, salt));
}

// The kernel does not ask for its place.
extern "C" __global__ void placeless(const unsigned* in, unsigned* out, unsigned n, unsigned char salt) {
  atomicAdd(&out[(threadIdx.x + salt) % n], in[threadIdx.x % n]);
}
