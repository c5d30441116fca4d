// Two source files with static kernels and variables of the same names, kernels launched before main by a
// static object, and CUDA calls after main by its destructor.
#include "check.hpp"

int other_half();

static __device__ int value = 1000;

static __global__ void bump(int by) {
  value += by;
}

__global__ void store(int* out, int number) {
  *out = number;
}

// An argument sets this: the destructor makes a call.
static bool free_after_main = false;

class Early {
 public:
  Early() {
    OK(cudaMalloc(&memory_, sizeof(int)));
    store<<<1, 1>>>(memory_, 77);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&result_, memory_, sizeof result_, cudaMemcpyDeviceToHost));
  }
  // After main the driver may have taken the thread's context down already: the call answers a code and does
  // not crash.
  ~Early() {
    if (!free_after_main) return;
    const cudaError_t error = cudaFree(memory_);
    if (error == cudaSuccess || error == cudaErrorCudartUnloading || error == cudaErrorContextIsDestroyed)
      std::printf("passed after_main\n");
    else
      std::printf("after main: %s\n", cudaGetErrorName(error));
  }
  int result() const { return result_; }

 private:
  int* memory_ = nullptr;
  int result_ = 0;
};

static Early early;

int main(int argc, char**) {
  free_after_main = argc > 1;
  CHECK(early.result() == 77);
  bump<<<1, 1>>>(5);
  int result = 0;
  OK(cudaMemcpyFromSymbol(&result, value, sizeof result));
  CHECK(result == 1005);
  CHECK(other_half() == 2003);
  bump<<<1, 1>>>(5);
  OK(cudaMemcpyFromSymbol(&result, value, sizeof result));
  CHECK(result == 1010);
  std::printf("passed linked\n");
  return 0;
}
