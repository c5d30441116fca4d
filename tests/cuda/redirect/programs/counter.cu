// A shared library with a runtime of its own: each call counts one further, on the device.
static __device__ int counted = 0;

static __global__ void count_one(int* out) {
  counted += 1;
  *out = counted;
}

// The count, or the negative error.
extern "C" __attribute__((visibility("default"))) int counter_next() {
  int* memory = nullptr;
  int result = 0;
  cudaError_t error = cudaMalloc(&memory, sizeof result);
  if (error == cudaSuccess) {
    count_one<<<1, 1>>>(memory);
    error = cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost);
    (void)cudaFree(memory);
  }
  return error == cudaSuccess ? result : -static_cast<int>(error);
}
