// Device management (CUDA Runtime API, "Device Management" and "Peer Device Memory Access"): the calls that
// are more than a pass-through.
#include <algorithm>

#include "cuda-shim/cudart/context.hpp"
#include "cuda-shim/cudart/copy/array_format.hpp"

namespace fairgv::cudart {
namespace {

Status device_count(const Driver& driver, int& count) {
  return driver.cuDeviceGetCount(&count);
}

Status check_device(const Driver& driver, int device) {
  CUdevice handle = 0;
  return driver.cuDeviceGet(&handle, device);
}

constexpr unsigned int kContextFlags =
    cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

Status set_flags(const Driver& driver, int device, unsigned int flags) {
  if ((flags & ~kContextFlags) != 0) return cudaErrorInvalidValue;
  // Mapped pinned memory is always available; the driver takes that flag only for a context of its own.
  return driver.cuDevicePrimaryCtxSetFlags(device, flags & ~static_cast<unsigned int>(cudaDeviceMapHost));
}

}  // namespace

FAIRGV_CALL(kDriver, cudaGetDeviceCount, (int* count), (count)) {
  if (count == nullptr) return cudaErrorInvalidValue;
  FAIRGV_RETURN_IF_FAILED(device_count(driver, *count));
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

FAIRGV_CALL(kDriver, cudaGetDevice, (int* device), (device)) {
  if (device == nullptr) return cudaErrorInvalidValue;
  return current_device(driver, *device);
}

// Since CUDA 12 the device is initialised here, not at the next call.
FAIRGV_CALL(kDriver, cudaSetDevice, (int device), (device)) {
  FAIRGV_RETURN_IF_FAILED(bind_device(driver, device));
  thread_state.device = device;
  return cudaSuccess;
}

FAIRGV_CALL(kDriver, cudaInitDevice, (int device, unsigned int device_flags, unsigned int flags),
            (device, device_flags, flags)) {
  if ((flags & ~static_cast<unsigned int>(cudaInitDeviceFlagsAreValid)) != 0) return cudaErrorInvalidValue;
  FAIRGV_RETURN_IF_FAILED(check_device(driver, device));
  if ((flags & cudaInitDeviceFlagsAreValid) != 0)
    FAIRGV_RETURN_IF_FAILED(set_flags(driver, device, device_flags));
  return hold_device(driver, device);
}

FAIRGV_CALL(kDriver, cudaSetValidDevices, (int* devices, int length), (devices, length)) {
  if (length < 0 || (devices == nullptr && length > 0)) return cudaErrorInvalidValue;
  int count = 0;
  FAIRGV_RETURN_IF_FAILED(device_count(driver, count));
  for (int i = 0; i < length; ++i) {
    if (devices[i] < 0 || devices[i] >= count) return cudaErrorInvalidDevice;
    if (std::count(devices, devices + length, devices[i]) > 1) return cudaErrorInvalidValue;
  }
  // A list of all devices in their order (or none) changes nothing. Other lists are not served.
  for (int i = 0; i < length; ++i)
    if (devices[i] != i) return cudaErrorNotSupported;
  return cudaSuccess;
}

FAIRGV_CALL(kDriver, cudaSetDeviceFlags, (unsigned int flags), (flags)) {
  int device = 0;
  FAIRGV_RETURN_IF_FAILED(current_device(driver, device));
  return set_flags(driver, device, flags);
}

FAIRGV_CALL(kDriver, cudaGetDeviceFlags, (unsigned int* flags), (flags)) {
  if (flags == nullptr) return cudaErrorInvalidValue;
  CUcontext current = nullptr;
  FAIRGV_RETURN_IF_FAILED(driver.cuCtxGetCurrent(&current));
  if (current != nullptr) {
    FAIRGV_RETURN_IF_FAILED(driver.cuCtxGetFlags(flags));
  } else {
    int active = 0;
    FAIRGV_RETURN_IF_FAILED(driver.cuDevicePrimaryCtxGetState(thread_state.device, flags, &active));
  }
  *flags = (*flags & kContextFlags) | cudaDeviceMapHost;
  return cudaSuccess;
}

FAIRGV_CALL(kDriver, cudaDeviceReset, (), ()) {
  int device = 0;
  FAIRGV_RETURN_IF_FAILED(current_device(driver, device));
  const Status reset = reset_device(driver, device);
  if (!reset.failed()) thread_state.last_error = cudaSuccess;  // a broken context is gone, its error with it
  return reset;
}

FAIRGV_CALL(kContext, cudaDeviceSynchronize, (), ()) {
  return driver.cuCtxSynchronize();
}

// The device that has most of the wanted properties; every equal or better property counts one.
FAIRGV_CALL(kDriver, cudaChooseDevice, (int* device, const cudaDeviceProp* wish), (device, wish)) {
  if (device == nullptr || wish == nullptr) return cudaErrorInvalidValue;
  int count = 0;
  FAIRGV_RETURN_IF_FAILED(device_count(driver, count));
  if (count == 0) return cudaErrorNoDevice;
  int best = -1;
  for (int i = 0; i < count; ++i) {
    std::size_t memory = 0;
    int major = 0;
    int minor = 0;
    int processors = 0;
    FAIRGV_RETURN_IF_FAILED(driver.cuDeviceTotalMem(&memory, i));
    FAIRGV_RETURN_IF_FAILED(
        driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i));
    FAIRGV_RETURN_IF_FAILED(
        driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i));
    FAIRGV_RETURN_IF_FAILED(
        driver.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, i));
    const bool capable = major > wish->major || (major == wish->major && minor >= wish->minor);
    const int score = (capable ? 4 : 0) + (memory >= wish->totalGlobalMem ? 2 : 0) +
                      (processors >= wish->multiProcessorCount ? 1 : 0);
    if (score > best) {
      best = score;
      *device = i;
    }
  }
  return cudaSuccess;
}

FAIRGV_CALL(kDriver, cudaDeviceGetTexture1DLinearMaxWidth,
            (std::size_t * width, const cudaChannelFormatDesc* channels, int device),
            (width, channels, device)) {
  if (width == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned int count = 0;
  FAIRGV_RETURN_IF_FAILED(driver_format(*channels, format, count));
  return driver.cuDeviceGetTexture1DLinearMaxWidth(width, format, count, device);
}

// The banks of shared memory have had one size since Kepler; setting another one has no effect (deprecated).
FAIRGV_CALL(kContext, cudaDeviceGetSharedMemConfig, (cudaSharedMemConfig * config), (config)) {
  if (config == nullptr) return cudaErrorInvalidValue;
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaDeviceSetSharedMemConfig, (cudaSharedMemConfig config), (config)) {
  return config <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
}

FAIRGV_CALL(kContext, cudaDeviceEnablePeerAccess, (int peer, unsigned int flags), (peer, flags)) {
  FAIRGV_RETURN_IF_FAILED(check_device(driver, peer));
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, peer, &context));
  return driver.cuCtxEnablePeerAccess(context, flags);
}

FAIRGV_CALL(kContext, cudaDeviceDisablePeerAccess, (int peer), (peer)) {
  FAIRGV_RETURN_IF_FAILED(check_device(driver, peer));
  CUcontext context = nullptr;
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, peer, &context));
  return driver.cuCtxDisablePeerAccess(context);
}

// Unlike all other calls this one works without a driver: 0, and success.
FAIRGV_EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return note(cudaErrorInvalidValue);
  *version = loaded_driver().tables[0].version;
  return cudaSuccess;
}

}  // namespace fairgv::cudart
