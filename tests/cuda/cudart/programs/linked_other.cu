// The other half of the program `linked`: its static names are its own.
#include "check.hpp"

static __device__ int value = 2000;

static __global__ void bump(int by) {
  value += by;
}

int other_half() {
  bump<<<1, 1>>>(3);
  int result = 0;
  OK(cudaMemcpyFromSymbol(&result, value, sizeof result));
  return result;
}
