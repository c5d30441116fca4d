// What FairGV's worker asks of this driver and of no other: which OpenCL device its device is, so that
// programs of both APIs share one device's turns.
#include "entry.hpp"

namespace fairgv::cuda {

extern "C" {

/// The cl_device_id as this process' OpenCL loader names it; null: there is no such device. After cuInit.
[[gnu::visibility("default")]] void* cuFairgvOpenclDevice(CUdevice device) noexcept {
  void* beneath = nullptr;
  initialized([&](Driver& driver) {
    if (device == 0) beneath = driver.opencl->device();
    return CUDA_SUCCESS;
  });
  return beneath;
}

}  // extern "C"
}  // namespace fairgv::cuda
