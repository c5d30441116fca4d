// Kernels for grid_test.cpp: barriers of the whole grid, and barrier objects.
#include <cooperative_groups.h>

#include <cuda/barrier>

namespace cg = cooperative_groups;

// In every round a thread takes the value that its neighbour in the next block had; the last block's is the first's.
extern "C" __global__ void rotate_blocks(int* values, int* spare, int rounds) {
  __shared__ int mine[64];
  const cg::grid_group grid = cg::this_grid();
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned from = (me + blockDim.x) % (gridDim.x * blockDim.x);
  mine[threadIdx.x] = static_cast<int>(blockIdx.x * 1000 + threadIdx.x);
  for (int round = 0; round < rounds; ++round) {
    spare[me] = values[from];
    grid.sync();
    values[me] = spare[me] + 1;
    grid.sync();
  }
  // Shared memory is the block's own all the while.
  if (mine[threadIdx.x] != static_cast<int>(blockIdx.x * 1000 + threadIdx.x)) values[me] = -1;
}

extern "C" __global__ void fail_in_block(int which) {
  const cg::grid_group grid = cg::this_grid();
  if (static_cast<int>(blockIdx.x) == which && threadIdx.x == 3) asm volatile("trap;");
  grid.sync();
}

// A barrier in shared memory is made by init(), and not by its constructor.
#pragma nv_diag_suppress static_var_with_dynamic_init

// Producers and consumers, by halves of the block, hand a value over through two barriers, several times.
extern "C" __global__ void hand_over(const int* in, int* out, int rounds) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier full, empty;
  __shared__ int values[32];
  if (threadIdx.x == 0) {
    init(&full, static_cast<int>(blockDim.x));
    init(&empty, static_cast<int>(blockDim.x));
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
      values[31 - lane] = in[round * 32 + lane];
      (void)full.arrive();
      empty.arrive_and_wait();
    } else {
      full.arrive_and_wait();
      out[round * 32 + lane] = values[lane];
      (void)empty.arrive();
    }
  }
}
