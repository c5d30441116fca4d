// The OpenCL drivers below: platforms and devices as the ICD loader shows them to the worker.
//
// The worker's loader is given a vendor directory without FairGV's own ICD (by the daemon, who starts the
// worker).
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "runtime/wire/calls.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::opencl {

struct Platform {
  cl_platform_id id = nullptr;
  bool is_2_0 = false;  // version 2.0 or later: which functions it has
  bool is_2_1 = false;
};

struct Device {
  cl_device_id id = nullptr;
  wire::PlatformIndex platform = 0;
  cl_device_type type = 0;
};

/// Lists everything once; constant afterwards, and may be read from any thread.
class Driver {
 public:
  /// An Error if there is no platform or no device.
  static Result<Driver> open();

  const std::vector<Platform>& platforms() const { return platforms_; }
  const std::vector<Device>& devices() const { return devices_; }

  /// Whether a device is the host's own CPU.
  bool has_host_device() const;

  std::string platform_name(wire::PlatformIndex platform) const;
  std::string device_name(wire::DeviceIndex device) const;

  /// The driver's ids of `devices`, or an Error if one is out of range.
  Result<std::vector<cl_device_id>> ids(std::span<const wire::DeviceIndex> devices) const;

 private:
  std::vector<Platform> platforms_;
  std::vector<Device> devices_;
};

/// Asks one of the clGet*Info functions for the size of an answer, then for the answer.
/// query(size, value, size_ret) calls it.
template <class Query>
wire::InfoReply get_info(Query query) {
  wire::InfoReply reply;
  std::size_t size = 0;
  reply.error = query(std::size_t{0}, nullptr, &size);
  if (reply.error != CL_SUCCESS) return reply;
  reply.value.resize(size);
  if (size != 0) reply.error = query(size, reply.value.data(), nullptr);
  if (reply.error != CL_SUCCESS) reply.value.clear();
  return reply;
}

/// The same for an answer that is a string.
template <class Query>
std::string get_string(Query query) {
  const wire::InfoReply reply = get_info(query);
  std::string text(reply.value.size(), '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(reply.value[i]);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace fairgv::vgpu::opencl
