// A shared library with kernels, which `plugin_host` opens and closes.
#include "check.hpp"

__device__ int opened = 10;

__global__ void count_up(int* out) {
  opened += 1;
  *out = opened;
}

extern "C" int plugin_run() {
  int* out = nullptr;
  OK(cudaMalloc(&out, sizeof(int)));
  count_up<<<1, 1>>>(out);
  OK(cudaGetLastError());
  int result = 0;
  OK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  OK(cudaFree(out));
  return result;
}
