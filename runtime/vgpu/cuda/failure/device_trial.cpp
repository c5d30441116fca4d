#include "runtime/vgpu/cuda/failure/device_trial.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/vgpu/backend/device_trial.hpp"

namespace fairgv::vgpu::cuda {
namespace {

using TriedNumbers = std::array<std::uint32_t, 64>;
constexpr std::uint32_t kTriedValue = 0xfa19'0417;

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

CUresult set_and_read(const Functions& driver, CUdeviceptr memory, TriedNumbers& numbers) {
  CUresult code = driver.cuMemsetD2D32Async(memory, sizeof(numbers), kTriedValue, numbers.size(), 1, nullptr);
  if (code == CUDA_SUCCESS) code = driver.cuMemcpyDtoHAsync(numbers.data(), memory, sizeof(numbers), nullptr);
  return code == CUDA_SUCCESS ? driver.cuStreamSynchronize(nullptr) : code;
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
  code = set_and_read(driver, memory, numbers);
  if (code != CUDA_SUCCESS) return ended_with(driver, device, "a transfer", code);
  const bool is_right =
      std::all_of(numbers.begin(), numbers.end(), [](std::uint32_t number) { return number == kTriedValue; });
  return is_right ? trial_works() : trial_failed("a transfer", "its results are wrong");
}

}  // namespace fairgv::vgpu::cuda
