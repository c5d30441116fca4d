// A kernel that launches a kernel, which is refused, and the program's end at once.
#include <cstdio>

__global__ void inner(int* out) {
  *out = 1;
}

__global__ void outer(int* out) {
  inner<<<1, 1>>>(out);
}

int main() {
  int* memory = nullptr;
  if (cudaMalloc(&memory, sizeof *memory) != cudaSuccess) return 1;
  outer<<<1, 1>>>(memory);
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  return 0;
}
