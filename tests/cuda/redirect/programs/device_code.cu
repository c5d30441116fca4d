// Device code in several units (-rdc=true): a function and a variable of the other unit. Prints what happens.
#include <cstdio>

extern __device__ int twice(int number);
extern __device__ int of_both;
const char* other_half(int* result);

__global__ void add(int* out) {
  *out = twice(21) + of_both;
}

int main() {
  int* memory = nullptr;
  int result = 0;
  std::printf("malloc: %s\n", cudaGetErrorName(cudaMalloc(&memory, sizeof result)));
  add<<<1, 1>>>(memory);
  const cudaError_t launched = cudaGetLastError();
  std::printf("launch: %s\n", cudaGetErrorName(launched));
  if (launched == cudaSuccess) (void)cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost);
  int other = 0;
  const char* const also = other_half(&other);
  std::printf("result: %d; the other unit: %s, %d\n", result, also, other);
  return 0;
}
