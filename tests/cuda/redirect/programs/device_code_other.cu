#include <cstdio>

__device__ int of_both = 7;

__device__ int twice(int number) {
  return 2 * number;
}

__global__ void store(int* out) {
  *out = twice(of_both);
}

const char* other_half(int* result) {
  int* memory = nullptr;
  (void)cudaMalloc(&memory, sizeof *result);
  store<<<1, 1>>>(memory);
  const cudaError_t launched = cudaGetLastError();
  if (launched == cudaSuccess) (void)cudaMemcpy(result, memory, sizeof *result, cudaMemcpyDeviceToHost);
  (void)cudaFree(memory);
  return cudaGetErrorName(launched);
}
