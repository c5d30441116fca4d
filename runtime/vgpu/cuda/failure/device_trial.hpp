// The errors by which a CUDA driver says that a device has failed, and a trial of one.
#pragma once

#include <cuda.h>

#include "runtime/session/device/device_failure.hpp"
#include "runtime/vgpu/cuda/driver.hpp"

namespace fairgv::vgpu::cuda {

/// Whether the fault may be the device's or its driver's, by what the Driver API says of its errors
/// ("CUresult"). Left out: faults of kernels, which leave the process without the device, but no other
/// (ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, HARDWARE_STACK_ERROR, which is a full or broken stack of a
/// kernel's, LAUNCH_FAILED, LAUNCH_TIMEOUT, ASSERT and their like), and EXTERNAL_DEVICE, which is said of
/// devices that are none of CUDA's. A GPU that has fallen off its bus gives UNKNOWN; so a trial decides.
constexpr bool is_device_failure(CUresult code) {
  switch (code) {
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

/// Makes a context, and has a kernel change memory that is set before and read afterwards.
session::TrialEnded try_device(const Functions& driver, const Device& device);

}  // namespace fairgv::vgpu::cuda
