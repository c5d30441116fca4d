// A broken context stays broken: every further call says so, and so does the last error.
#undef NDEBUG
#include <cassert>

#include "check.hpp"

__global__ void check_index(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);
}
__global__ void give_up() {
  __trap();
}

static void after(cudaError_t expected) {
  CHECK_CODE(expected, cudaDeviceSynchronize());
  void* memory = nullptr;
  CHECK_CODE(expected, cudaMalloc(&memory, 16));
  CHECK_CODE(expected, cudaStreamSynchronize(nullptr));
  CHECK_CODE(expected, cudaPeekAtLastError());
  CHECK_CODE(expected, cudaGetLastError());
  CHECK_CODE(expected, cudaGetLastError());
  check_index<<<1, 1>>>(4);
  CHECK_CODE(expected, cudaGetLastError());
}

static void failed_assertion() {
  check_index<<<1, 8>>>(8);
  OK(cudaDeviceSynchronize());
  check_index<<<1, 8>>>(4);
  after(cudaErrorAssert);
}

static void trap() {
  give_up<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize() != cudaSuccess);
  const cudaError_t error = cudaPeekAtLastError();
  CHECK(error == cudaErrorLaunchFailure || error == cudaErrorIllegalInstruction);
  after(error);
}

int main(int argc, char** argv) {
  const Case cases[] = {{"failed_assertion", failed_assertion}, {"trap", trap}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
