#include "cuda-shim/cudart/context.hpp"

#include <array>
#include <atomic>
#include <mutex>

namespace fairgv::cudart {
namespace {

// More than the devices of any driver of today.
constexpr int kMaxDevices = 256;

struct PrimaryContext {
  std::mutex mutex;              // retaining and resetting
  CUcontext retained = nullptr;  // under the mutex
  // Counts resets. A thread whose context is of an earlier generation binds again. Pairs with itself: the
  // increment (release) follows the reset, and the load (acquire) in bind_context sees it before the old
  // handle is used.
  std::atomic<std::uint32_t> generation{0};
};

PrimaryContext& primary(int device) {
  // Leaked: threads may still call while static objects are destroyed.
  static auto* const contexts = new std::array<PrimaryContext, kMaxDevices>;
  return (*contexts)[static_cast<std::size_t>(device)];
}

}  // namespace

namespace {

Status hold(const Driver& driver, int device, CUcontext& handle, std::uint32_t& generation) {
  if (device < 0 || device >= kMaxDevices) return cudaErrorInvalidDevice;
  PrimaryContext& context = primary(device);
  const std::lock_guard lock(context.mutex);
  if (context.retained == nullptr) {
    // A device handle is its ordinal in every driver; cuDeviceGet also says that the ordinal is one.
    CUdevice device_handle = 0;
    FAIRGV_RETURN_IF_FAILED(driver.cuDeviceGet(&device_handle, device));
    FAIRGV_RETURN_IF_FAILED(driver.cuDevicePrimaryCtxRetain(&context.retained, device_handle));
  }
  handle = context.retained;
  generation = context.generation.load(std::memory_order_acquire);
  return cudaSuccess;
}

}  // namespace

Status hold_device(const Driver& driver, int device, CUcontext* context) {
  CUcontext handle = nullptr;
  std::uint32_t generation = 0;
  FAIRGV_RETURN_IF_FAILED(hold(driver, device, handle, generation));
  if (context != nullptr) *context = handle;
  return cudaSuccess;
}

Status bind_device(const Driver& driver, int device) {
  CUcontext handle = nullptr;
  std::uint32_t generation = 0;
  FAIRGV_RETURN_IF_FAILED(hold(driver, device, handle, generation));
  FAIRGV_RETURN_IF_FAILED(driver.cuCtxSetCurrent(handle));
  thread_state.bound = handle;
  thread_state.generation = generation;
  return cudaSuccess;
}

Status bind_context(const Driver& driver) {
  CUcontext current = nullptr;
  FAIRGV_RETURN_IF_FAILED(driver.cuCtxGetCurrent(&current));
  const ThreadState& thread = thread_state;
  if (current != nullptr) {
    if (current != thread.bound) return cudaSuccess;  // the program has chosen it
    if (thread.generation == primary(thread.device).generation.load(std::memory_order_acquire))
      return cudaSuccess;
  }
  return bind_device(driver, thread.device);
}

Status reset_device(const Driver& driver, int device) {
  if (device < 0 || device >= kMaxDevices) return cudaErrorInvalidDevice;
  PrimaryContext& context = primary(device);
  const std::lock_guard lock(context.mutex);
  CUcontext current = nullptr;
  FAIRGV_RETURN_IF_FAILED(driver.cuCtxGetCurrent(&current));
  if (context.retained != nullptr && current == context.retained)
    FAIRGV_RETURN_IF_FAILED(driver.cuCtxSetCurrent(nullptr));
  const Status reset = driver.cuDevicePrimaryCtxReset(device);
  if (reset.failed()) return reset;
  if (context.retained != nullptr) {
    (void)driver.cuDevicePrimaryCtxRelease(device);  // the retained context is gone already
    context.retained = nullptr;
  }
  context.generation.fetch_add(1, std::memory_order_release);
  return cudaSuccess;
}

Status current_device(const Driver& driver, int& device) {
  CUcontext current = nullptr;
  FAIRGV_RETURN_IF_FAILED(driver.cuCtxGetCurrent(&current));
  if (current == nullptr || current == thread_state.bound) {
    device = thread_state.device;
    return cudaSuccess;
  }
  CUdevice handle = 0;
  FAIRGV_RETURN_IF_FAILED(driver.cuCtxGetDevice(&handle));
  device = handle;
  return cudaSuccess;
}

}  // namespace fairgv::cudart
