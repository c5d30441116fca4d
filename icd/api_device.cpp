// Entry points: devices.
#include <algorithm>

#include "icd/api.hpp"
#include "icd/entry.hpp"
#include "icd/platform.hpp"

namespace fairgv::icd {
namespace {

bool is_device_type(cl_device_type type) {
  constexpr cl_device_type kKnown = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                    CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  return type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~kKnown) == 0);
}

}  // namespace

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries,
                      cl_device_id* devices, cl_uint* num_devices) {
  return entry([&]() -> cl_int {
    const Platform* const object = downcast<Platform>(platform);
    if (object == nullptr) return CL_INVALID_PLATFORM;
    if (!is_device_type(device_type)) return CL_INVALID_DEVICE_TYPE;
    if (devices == nullptr && num_devices == nullptr) return CL_INVALID_VALUE;
    if (devices != nullptr && num_entries == 0) return CL_INVALID_VALUE;
    const std::vector<Device*> found = object->devices_of_type(device_type);
    if (num_devices != nullptr) *num_devices = static_cast<cl_uint>(found.size());
    if (found.empty()) return CL_DEVICE_NOT_FOUND;
    if (devices == nullptr) return CL_SUCCESS;
    const std::size_t count = std::min<std::size_t>(num_entries, found.size());
    std::transform(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), devices,
                   [](Device* device) { return device->handle(); });
    return CL_SUCCESS;
  });
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size,
                       void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Device* const object = downcast<Device>(device);
    if (object == nullptr) return CL_INVALID_DEVICE;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clRetainDevice(cl_device_id device) {
  return downcast<Device>(device) == nullptr ? CL_INVALID_DEVICE : CL_SUCCESS;
}

cl_int clReleaseDevice(cl_device_id device) {
  return downcast<Device>(device) == nullptr ? CL_INVALID_DEVICE : CL_SUCCESS;
}

// CL_PLATFORM_HOST_TIMER_RESOLUTION is 0: no timers (OpenCL 3.0, 4.3).
cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong*, cl_ulong*) {
  return downcast<Device>(device) == nullptr ? CL_INVALID_DEVICE : CL_INVALID_OPERATION;
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong*) {
  return downcast<Device>(device) == nullptr ? CL_INVALID_DEVICE : CL_INVALID_OPERATION;
}

}  // namespace fairgv::icd
