// A member of the library that nothing needs.
extern "C" __device__ int spare(int value) {
  return value;
}

extern "C" __global__ void spare_kernel(int* out) {
  *out = spare(1);
}
