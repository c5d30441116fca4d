// Entry points: devices.
#include <algorithm>

#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/objects/platform.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {
namespace {

/// A partition scheme with its final 0 (OpenCL 3.0, 4.3).
cl_int read_partition(const cl_device_partition_property* properties,
                      std::vector<cl_device_partition_property>& list) {
  if (properties == nullptr) return CL_INVALID_VALUE;
  switch (properties[0]) {
    case CL_DEVICE_PARTITION_EQUALLY:
    case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
      // One scheme at a time.
      if (properties[2] != 0) return CL_INVALID_VALUE;
      list.assign(properties, properties + 3);
      return CL_SUCCESS;
    case CL_DEVICE_PARTITION_BY_COUNTS:
      do list.push_back(*properties);
      while (*properties++ != CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
      list.push_back(0);
      return CL_SUCCESS;
    default:
      return CL_INVALID_VALUE;
  }
}

/// `device_time` may be null if only the host's time is wanted.
cl_int read_timers(const Device& device, cl_ulong* device_time, cl_ulong* host_time) {
  Connection* const connection = device.connection();
  if (connection == nullptr) return kSessionLost;
  const auto reply =
      connection->call(wire::GetTimers{device.index(), static_cast<std::uint8_t>(device_time == nullptr)});
  if (!reply) return kSessionLost;
  if (reply->error != CL_SUCCESS) return reply->error;
  if (device_time != nullptr) *device_time = reply->device;
  *host_time = reply->host;
  return CL_SUCCESS;
}

}  // namespace

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries,
                      cl_device_id* devices, cl_uint* num_devices) {
  return entry([&]() -> cl_int {
    Platform* const object = downcast<Platform>(platform);
    if (object == nullptr) return CL_INVALID_PLATFORM;
    if (devices == nullptr && num_devices == nullptr) return CL_INVALID_VALUE;
    if (devices != nullptr && num_entries == 0) return CL_INVALID_VALUE;
    std::vector<Device*> found;
    if (const cl_int error = object->find_devices(device_type, found)) {
      if (num_devices != nullptr && error == CL_DEVICE_NOT_FOUND) *num_devices = 0;
      return error;
    }
    for (cl_uint i = 0; devices != nullptr && i < num_entries && i < found.size(); ++i) {
      devices[i] = found[i]->handle();
    }
    if (num_devices != nullptr) *num_devices = static_cast<cl_uint>(found.size());
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
  return entry([&]() -> cl_int {
    Device* const object = downcast<Device>(device);
    return object == nullptr ? CL_INVALID_DEVICE : object->retain_reference();
  });
}

cl_int clReleaseDevice(cl_device_id device) {
  return entry([&]() -> cl_int {
    Device* const object = downcast<Device>(device);
    return object == nullptr ? CL_INVALID_DEVICE : object->release_reference();
  });
}

cl_int clRetainDeviceEXT(cl_device_id device) {
  return icd::clRetainDevice(device);
}

cl_int clReleaseDeviceEXT(cl_device_id device) {
  return icd::clReleaseDevice(device);
}

cl_int clCreateSubDevices(cl_device_id in_device, const cl_device_partition_property* properties,
                          cl_uint num_devices, cl_device_id* out_devices, cl_uint* num_devices_ret) {
  return entry([&]() -> cl_int {
    Device* const whole = downcast<Device>(in_device);
    if (whole == nullptr) return CL_INVALID_DEVICE;
    std::vector<cl_device_partition_property> list;
    if (const cl_int error = read_partition(properties, list)) return error;
    if ((num_devices == 0) != (out_devices == nullptr)) return CL_INVALID_VALUE;
    return whole->partition(list, num_devices, out_devices, num_devices_ret);
  });
}

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* device_timestamp, cl_ulong* host_timestamp) {
  return entry([&]() -> cl_int {
    const Device* const object = downcast<Device>(device);
    if (object == nullptr) return CL_INVALID_DEVICE;
    if (device_timestamp == nullptr || host_timestamp == nullptr) return CL_INVALID_VALUE;
    return read_timers(*object, device_timestamp, host_timestamp);
  });
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong* host_timestamp) {
  return entry([&]() -> cl_int {
    const Device* const object = downcast<Device>(device);
    if (object == nullptr) return CL_INVALID_DEVICE;
    return host_timestamp == nullptr ? CL_INVALID_VALUE : read_timers(*object, nullptr, host_timestamp);
  });
}

}  // namespace fairgv::icd
