// Sub-devices and the driver's clocks.
#include <fmt/core.h>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
Result<wire::SubDevicesReply> Handlers::handle(const wire::CreateSubDevices& call) {
  FAIRGV_TRY(id, device(call.device));
  if (!is_partition(call.properties)) return Error{"a list of partition properties without an end"};
  const auto* const properties =
      reinterpret_cast<const cl_device_partition_property*>(call.properties.data());
  wire::SubDevicesReply reply;
  if (!settings_.access.may_name(driver_.devices()[call.device].charged))
    reply.error = CL_DEVICE_NOT_AVAILABLE;
  if (reply.error != CL_SUCCESS) return reply;
  reply.error = clCreateSubDevices(id.value(), properties, 0, nullptr, &reply.count);
  if (reply.error != CL_SUCCESS || call.only_count != 0 || reply.count == 0) return reply;
  auto made = driver_.split(call.device, call.properties);
  if (made.error != CL_SUCCESS) return wire::SubDevicesReply{made.error, 0, {}};
  reply.devices = std::move(made.indices);
  return reply;
}

Result<void> Handlers::handle(const wire::ReleaseSubDevice& call) {
  return driver_.release_sub_device(call.device);
}

Result<wire::TimersReply> Handlers::handle(const wire::GetTimers& call) {
  FAIRGV_TRY(id, device(call.device));
  // Both came with OpenCL 2.1.
  if (!driver_.platforms()[driver_.devices()[call.device].platform].is_2_1) {
    return wire::TimersReply{CL_INVALID_OPERATION, 0, 0};
  }
  wire::TimersReply reply;
  cl_ulong device_time = 0;
  cl_ulong host_time = 0;
  reply.error = call.only_host != 0 ? clGetHostTimer(id.value(), &host_time)
                                    : clGetDeviceAndHostTimer(id.value(), &device_time, &host_time);
  reply.device = device_time;
  reply.host = host_time;
  return reply;
}

}  // namespace fairgv::vgpu::opencl
