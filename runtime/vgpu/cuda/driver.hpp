// The CUDA driver below: a libcuda.so.1, NVIDIA's or the software one, and the devices that it has.
//
// A CUDA device is a device of the topology, too. If the OpenCL driver shows it, it is that OpenCL device, so
// that programs of both APIs share its turns; else it comes behind the OpenCL devices.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/wire/calls/cuda/contexts.hpp"

namespace fairgv::vgpu::cuda {

/// The driver's functions, by the names of cuda.h. Those that are optional may be null.
struct Functions {
#define FAIRGV_DRIVER_FUNCTION(name, need) decltype(&::name) name = nullptr;
#include "runtime/vgpu/cuda/functions.def"
#undef FAIRGV_DRIVER_FUNCTION
  /// cuCtxCreate_v2: newer ones of the name take parameters that nobody here uses.
  CUresult (*create_context)(CUcontext* context, unsigned flags, CUdevice device) = nullptr;
  /// The software driver's own function for callbacks as short as the worker's; null: ends are watched for
  /// (EndWatcher).
  CUresult (*add_callback)(CUstream stream, CUstreamCallback callback, void* data) = nullptr;
  /// The software driver makes machine code when a launch comes to run, and can have the next launch of the
  /// calling thread stop before that: `reached` is called once, there or when it has ended, and then
  /// `let_launch_go(*launch)` lets it run. Null: the driver makes code before.
  CUresult (*hold_next_launch)(void (*reached)(void* data), void* data, void** launch) = nullptr;
  void (*let_launch_go)(void* launch) = nullptr;
  /// The software driver puts memory where another process's driver had it, and tells what no other driver
  /// does: see its own comments (softcuda/driver/beneath.cpp). Null, all three: it is another driver.
  void (*place_next)(CUdeviceptr address) = nullptr;
  CUresult (*module_memory)(CUmodule module, CUdeviceptr* address, std::size_t* bytes) = nullptr;
  CUresult (*heap)(int make, CUdeviceptr* address, std::size_t* bytes) = nullptr;
};

struct Device {
  CUdevice handle = 0;
  wire::cuda::DeviceFacts facts;

  /// 0: the driver does not say.
  std::int32_t attribute(CUdevice_attribute which) const;
  /// 80 of compute capability 8.0; 0: unknown.
  std::uint32_t capability() const;
};

/// Never unloaded: drivers have threads. The functions may be called from any thread, the rest by one.
class Driver {
 public:
  /// Loads `library` and its devices, which are found among those of `opencl` where it has them (null: there
  /// is no OpenCL driver). An Error that says what is missing if it cannot be used; a driver that finds no
  /// device is one with none.
  static Result<Driver> open(const std::string& library, const opencl::Driver* opencl);

  const Functions& functions() const { return functions_; }
  int version() const { return version_; }
  /// By ordinal.
  const std::vector<Device>& devices() const { return devices_; }
  /// The device at that place is this one from now on, under the number that it had in the topology: before
  /// anything is made on it.
  void replace(std::size_t ordinal, const Device& by) {
    const wire::DeviceIndex number = devices_[ordinal].facts.device;
    devices_[ordinal] = by;
    devices_[ordinal].facts.device = number;
  }
  /// The devices that the topology has behind those of OpenCL.
  const std::vector<session::DeviceDescription>& more_devices() const { return more_devices_; }
  /// Whether all its devices are the host's own CPU.
  bool is_host() const { return is_host_; }

 private:
  Result<void> look_at_devices(const opencl::Driver* opencl);
  wire::DeviceIndex topology_index(const Device& device, const opencl::Driver* opencl);

  Functions functions_;
  /// The software driver's: the OpenCL device beneath one of its devices, as its loader names it.
  void* (*opencl_device_)(CUdevice device) = nullptr;
  int version_ = 0;
  bool is_host_ = false;
  std::vector<Device> devices_;
  std::vector<session::DeviceDescription> more_devices_;
};

/// Whether the driver has the functions of virtual memory management.
bool has_virtual_memory(const Functions& functions);

/// The meaning of `code`, in the driver's words.
std::string describe(const Functions& functions, CUresult code);

}  // namespace fairgv::vgpu::cuda
