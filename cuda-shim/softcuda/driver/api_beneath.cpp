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

/// As cuStreamAddCallback, but the function is called by the thread that ends what is before it, or by this
/// one: it must be short, and call nothing of CUDA. Saves a switch of threads for each end that is waited
/// for.
[[gnu::visibility("default")]] CUresult cuFairgvAddPromptCallback(CUstream handle, CUstreamCallback callback,
                                                                  void* data) noexcept {
  return in_any_context([&](Driver& driver, Context& context) {
    const auto stream = find_stream(driver, context, handle, false);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.submit_prompt(*stream, [=](CUresult fault) { callback(handle, fault, data); });
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
