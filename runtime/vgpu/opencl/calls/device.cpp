// Sub-devices and the driver's clocks.
#include <fmt/core.h>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// Whether a driver finds the end of the list that it was given (OpenCL 3.0, 4.3): of one scheme, complete.
bool is_partition(std::span<const std::int64_t> list) {
  if (list.size() < 3 || list.back() != 0) return false;
  switch (list.front()) {
    case CL_DEVICE_PARTITION_EQUALLY:
    case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
      return list.size() == 3;
    case CL_DEVICE_PARTITION_BY_COUNTS:
      return list[list.size() - 2] == CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
    default:
      return false;
  }
}

}  // namespace

Result<wire::SubDevicesReply> Handlers::handle(const wire::CreateSubDevices& call) {
  FAIRGV_TRY(id, device(call.device));
  if (!is_partition(call.properties)) return Error{"a list of partition properties without an end"};
  static_assert(sizeof(cl_device_partition_property) == sizeof(std::int64_t));
  const auto* const properties =
      reinterpret_cast<const cl_device_partition_property*>(call.properties.data());
  wire::SubDevicesReply reply;
  if (!settings_.access.may_name(driver_.devices()[call.device].charged))
    reply.error = CL_DEVICE_NOT_AVAILABLE;
  if (reply.error != CL_SUCCESS) return reply;
  reply.error = clCreateSubDevices(id.value(), properties, 0, nullptr, &reply.count);
  if (reply.error != CL_SUCCESS || call.only_count != 0 || reply.count == 0) return reply;
  std::vector<cl_device_id> made(reply.count);
  reply.error = clCreateSubDevices(id.value(), properties, reply.count, made.data(), nullptr);
  if (reply.error != CL_SUCCESS) return reply;
  auto indices = driver_.add_sub_devices(call.device, made);
  if (!indices) return wire::SubDevicesReply{CL_OUT_OF_RESOURCES, 0, {}};
  reply.devices = std::move(*indices);
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
