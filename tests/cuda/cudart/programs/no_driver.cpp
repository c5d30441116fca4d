// Where there is no driver, every call answers cudaErrorInsufficientDriver, and nothing else happens.
#include "check.hpp"

int main() {
  CHECK_CODE(cudaErrorInsufficientDriver, cudaGetLastError());
  int value = 77;
  void* memory = nullptr;
  CHECK_CODE(cudaErrorInsufficientDriver, cudaGetDeviceCount(&value));
  CHECK(value == 77);
  CHECK_CODE(cudaErrorInsufficientDriver, cudaSetDevice(0));
  CHECK_CODE(cudaErrorInsufficientDriver, cudaMalloc(&memory, 16));
  CHECK_CODE(cudaErrorInsufficientDriver, cudaFree(nullptr));
  CHECK_CODE(cudaErrorInsufficientDriver, cudaStreamQuery(nullptr));
  CHECK_CODE(cudaErrorInsufficientDriver, cudaDeviceSynchronize());
  CHECK_CODE(cudaErrorInsufficientDriver, cudaPeekAtLastError());
  CHECK_CODE(cudaErrorInsufficientDriver, cudaGetLastError());
  // Versions are known without a driver.
  OK(cudaDriverGetVersion(&value));
  CHECK(value == 0);
  OK(cudaRuntimeGetVersion(&value));
  CHECK(value == CUDART_VERSION);
  std::printf("passed no_driver\n");
  return 0;
}
