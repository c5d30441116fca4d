// Kernels that must run whole, in the form that nvcc gives them, beside a kernel that need not. nvcc compiles
// them to PTX (relocatable, for launches by the device); rewrite_test.cpp looks at the rewriting.
#include <cooperative_groups.h>

__device__ __noinline__ unsigned place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __noinline__ unsigned count() { return gridDim.x; }
__device__ __noinline__ unsigned row() { return blockIdx.y; }
__device__ unsigned (*const functions[])() = {count, row};

extern "C" __global__ void whole_grid_waits(unsigned* out) {
  const auto grid = cooperative_groups::this_grid();
  out[place()] = 1;
  grid.sync();
  out[place()] += out[0];
}

extern "C" __global__ void child(unsigned* out) { out[place()] = 2; }
extern "C" __global__ void launches_child(unsigned* out) { child<<<2, 32>>>(out); }

extern "C" __global__ void calls_pointer(unsigned* out, unsigned which) { out[place()] = functions[which](); }

extern "C" __global__ void ordinary(unsigned* out) { out[place()] = blockIdx.x; }
