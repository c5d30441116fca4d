// Threads that work together: warps, votes, named barriers, printing, failing.
#include <cassert>
#include <cstdio>

extern "C" __global__ void warp_scan_in_branch(const int* in, int* out) {
  int x = in[threadIdx.x];
  if (threadIdx.x < 32) {
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, x, step);
      if (threadIdx.x >= step) x += other;
    }
  } else {
    x = -x;
  }
  out[threadIdx.x] = x;
}

extern "C" __global__ void votes(const int* in, unsigned* out) {
  const int x = in[threadIdx.x];
  unsigned r = __ballot_sync(0xffffffffu, x > 0);
  r ^= __any_sync(0xffffffffu, x == 5) ? 0x10000u : 0;
  r ^= __all_sync(0xffffffffu, x < 100) ? 0x20000u : 0;
  if (x & 1) r += __popc(__activemask()) * 1000;
  __syncwarp();
  r += __match_any_sync(0xffffffffu, x % 3) * 3;
  int predicate;
  r += __match_all_sync(0xffffffffu, x / 1000, &predicate) + predicate;
  out[threadIdx.x] = r;
}

extern "C" __global__ void block_votes(const int* in, int* out) {
  const int x = in[threadIdx.x];
  out[3 * threadIdx.x] = __syncthreads_count(x > 10);
  out[3 * threadIdx.x + 1] = __syncthreads_and(x > -1000);
  out[3 * threadIdx.x + 2] = __syncthreads_or(x == 1 << 30);
}

// Two halves of a block meet at barriers of their own.
extern "C" __global__ void named_barriers(const int* in, int* out) {
  __shared__ int values[128];
  const int half = threadIdx.x / 64;
  const int lane = threadIdx.x % 64;
  for (int round = 0; round < 1 + half * 2; ++round) {
    values[threadIdx.x] = in[threadIdx.x] + round;
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    out[threadIdx.x] = values[half * 64 + 63 - lane];
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  }
}

__device__ __noinline__ int warp_sum(int x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
extern "C" __global__ void warp_function(const int* in, int* out, int n) {
  int local[4];
  for (int i = 0; i < 4; ++i) local[(i + n) & 3] = in[threadIdx.x] * i;
  int sum = warp_sum(in[threadIdx.x]);
  if (threadIdx.x >= 32) sum += warp_sum(local[(n + 3) & 3]);
  __syncthreads();
  out[threadIdx.x] = sum + local[n & 3];
}

extern "C" __global__ void partial_warp(int* out, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  const unsigned mask = __activemask();
  int x = threadIdx.x + 1;
  x += __shfl_xor_sync(mask, x, 1);
  __syncthreads();
  out[threadIdx.x] = x + __popc(mask) * 1000;
}

extern "C" __global__ void printing(int x) {
  printf("thread %d of %u: %s %f %lld%c\n", threadIdx.x + x, blockDim.x, threadIdx.x ? "one" : "zero", x * 0.5,
         static_cast<long long>(x) << 33, '!');
}

extern "C" __global__ void asserting(int x) { assert(static_cast<int>(threadIdx.x) < x); }

extern "C" __global__ void deadlock(int* out) {
  if (threadIdx.x == 0) asm volatile("bar.sync 3, 64;" ::: "memory");
  *out = 1;
}

extern "C" __global__ void atomics(int* ints, unsigned long long* longs, float* floats, double* doubles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(&ints[0], -i);
  atomicMax(&ints[1], i);
  atomicOr(&ints[2], 1 << (i & 31));
  atomicAnd(&ints[3], ~(1 << (i & 31)));
  atomicXor(&ints[4], i);
  atomicSub(&ints[5], 3);
  atomicExch(&ints[6], 42);
  atomicInc(reinterpret_cast<unsigned*>(&ints[7]), 9u);
  atomicDec(reinterpret_cast<unsigned*>(&ints[8]), 9u);
  int seen = ints[9], expected;
  do {
    expected = seen;
    seen = atomicCAS(&ints[9], expected, expected + 2);
  } while (seen != expected);
  atomicAdd(&longs[0], 1ull << 33);
  atomicMax(&longs[1], static_cast<unsigned long long>(i) << 40);
  atomicAdd(floats, 0.25f);
  atomicAdd(doubles, 0.5);
}

// Sums of the first lanes of a warp, by steps that reach beyond these lanes: `few` lanes of a warp whose
// other lanes have taken another branch, and of a block that has no more threads.
extern "C" __global__ void partial_sum(int* out, unsigned few) {
  int sum = threadIdx.x + 1;
  const unsigned mask = __ballot_sync(__activemask(), threadIdx.x < few);
  if (threadIdx.x < few) {
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(mask, sum, step);
    if (threadIdx.x == 0) *out = sum;
  }
}
