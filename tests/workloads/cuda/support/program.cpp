#include "tests/workloads/cuda/support/program.hpp"

#include <vector>

#include "tests/workloads/support/options.hpp"

namespace workloads::cuda {

CudaTarget::CudaTarget(const std::string& platform, const std::string& device) {
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  platform_name_ = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  choose("--platform", platform, {platform_name_});

  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::vector<std::string> names;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    names.emplace_back(properties.name);
  }
  const std::size_t chosen = choose("--device", device, names);
  device_name_ = names[chosen];
  check(cudaSetDevice(static_cast<int>(chosen)), "cudaSetDevice");
  launcher_ = std::make_unique<Launcher>();
}

void CudaTarget::rebuild() {
  throw BadInput("--requests: 'build' is for programs that compile their kernels themselves, as OpenCL's do");
}

}  // namespace workloads::cuda
