#include "runtime/vgpu/cuda/failure/device_trial.hpp"

#include <array>
#include <cstdint>
#include <tuple>

#include "runtime/vgpu/backend/device_trial.hpp"

namespace fairgv::vgpu::cuda {
namespace {

using TriedNumbers = std::array<std::uint32_t, 64>;
constexpr std::uint32_t kTriedValue = 0xfa19'0417;

/// numbers[i] += i, for one block
constexpr const char* kTriedPtx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry try_device(.param .u64 numbers)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [numbers];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.u32 %r2, [%d3];
  add.u32 %r3, %r2, %r1;
  st.global.u32 [%d3], %r3;
  ret;
}
)";

/// In a mode of one process at a time, another process that has the device is no failure.
bool is_exclusive(const Device& device) {
  return device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
}

session::TrialEnded ended_with(const Functions& driver, const Device& device, const char* what,
                               CUresult code) {
  const bool is_taken = code == CUDA_ERROR_DEVICE_UNAVAILABLE && is_exclusive(device);
  const std::string error = describe(driver, code);
  return is_device_failure(code) && !is_taken ? trial_failed(what, error) : trial_unknown(what, error);
}

/// Null where the driver cannot make it for the device: that is tried by transfers alone.
CUfunction make_tried_kernel(const Functions& driver) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const bool made = driver.cuModuleLoadDataEx(&module, kTriedPtx, 0, nullptr, nullptr) == CUDA_SUCCESS &&
                    driver.cuModuleGetFunction(&function, module, "try_device") == CUDA_SUCCESS;
  return made ? function : nullptr;
}

CUresult launch_tried(const Functions& driver, CUfunction kernel, CUdeviceptr memory) {
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = std::tuple_size_v<TriedNumbers>;
  config.blockDimY = config.blockDimZ = 1;
  void* parameters[] = {&memory};
  return driver.cuLaunchKernelEx(&config, kernel, parameters, nullptr);
}

}  // namespace

/// The process ends afterwards, and all that it has made with it.
session::TrialEnded try_device(const Functions& driver, const Device& device) {
  CUcontext context = nullptr;
  CUresult code = driver.create_context(&context, 0, device.handle);
  if (code != CUDA_SUCCESS) return ended_with(driver, device, "its context", code);
  TriedNumbers numbers{};
  CUdeviceptr memory = 0;
  code = driver.cuMemAlloc(&memory, sizeof(numbers));
  if (code != CUDA_SUCCESS) return ended_with(driver, device, "its memory", code);
  code = driver.cuMemsetD2D32Async(memory, sizeof(numbers), kTriedValue, numbers.size(), 1, nullptr);
  if (code != CUDA_SUCCESS) return ended_with(driver, device, "a fill", code);
  const CUfunction kernel = make_tried_kernel(driver);
  if (kernel != nullptr) code = launch_tried(driver, kernel, memory);
  if (code == CUDA_SUCCESS) code = driver.cuStreamSynchronize(nullptr);
  if (code != CUDA_SUCCESS) return ended_with(driver, device, "a launch", code);
  code = driver.cuMemcpyDtoHAsync(numbers.data(), memory, sizeof(numbers), nullptr);
  if (code == CUDA_SUCCESS) code = driver.cuStreamSynchronize(nullptr);
  if (code != CUDA_SUCCESS) return ended_with(driver, device, "a read", code);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    if (numbers.at(i) != kTriedValue + (kernel != nullptr ? i : 0))
      return trial_failed("a launch", "its results are wrong");
  }
  return trial_works();
}

}  // namespace fairgv::vgpu::cuda
