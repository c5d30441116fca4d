// The OpenCL drivers below: platforms and devices as the ICD loader shows them to the worker.
//
// The worker's loader is given a vendor directory without FairGV's own ICD (by the daemon, who starts the
// worker).
//
// Sub-devices are numbered after the devices of the topology, so that a device index names either. Turns
// belong to root devices: a sub-device runs in the turn of the device that it is part of.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::opencl {

struct Platform {
  cl_platform_id id = nullptr;
  bool is_2_0 = false;  // version 2.0 or later: which functions it has
  bool is_2_1 = false;
  bool is_2_2 = false;
};

struct Device {
  cl_device_id id = nullptr;
  wire::PlatformIndex platform = 0;
  cl_device_type type = 0;
  /// The device that is scheduled: this one, or the device that it is part of.
  wire::DeviceIndex root = 0;
  /// The program's device whose memory it has: itself, or the device that it is part of. Not `root`, where
  /// the session has moved to another device (replace()).
  wire::DeviceIndex charged = 0;
  /// The device and its platform as the program knows them: not `id` and `platform`, where the session has
  /// moved.
  cl_device_id known_as = nullptr;
  wire::PlatformIndex known_on = 0;
  /// How often a device was split to make it.
  std::uint32_t depth = 0;
  /// Of a sub-device: the driver's reference, and that of the device it was split from. Every object that the
  /// driver makes for a sub-device must hold it.
  std::shared_ptr<const void> owner;
};

/// Lists platforms and devices once; from then on only sub-devices come and go. The loop thread's.
class Driver {
 public:
  /// An Error if there is no platform or no device. It says why drivers in the folder OCL_ICD_VENDORS could
  /// not be opened, which the loader does not.
  static Result<Driver> open();

  const std::vector<Platform>& platforms() const { return platforms_; }
  /// The devices of the topology, by index, followed by sub-devices. Those that were released have no id.
  const std::vector<Device>& devices() const { return devices_; }
  /// The devices of the topology.
  std::span<const Device> root_devices() const { return std::span(devices_).first(root_count_); }

  /// Whether a device is the host's own CPU.
  bool has_host_device() const;

  std::string platform_name(wire::PlatformIndex platform) const;
  std::string device_name(wire::DeviceIndex device) const;
  /// Tells it from others of its name (session::DeviceDescription::id).
  std::string device_id(wire::DeviceIndex device) const;

  /// The driver's ids of `devices`, or an Error if one does not exist.
  Result<std::vector<cl_device_id>> ids(std::span<const wire::DeviceIndex> devices) const;

  /// Gives sub-devices of `parent`, whose references it takes, indices. Nothing if there are too many, or it
  /// was split too often.
  std::optional<std::vector<wire::DeviceIndex>> add_sub_devices(wire::DeviceIndex parent,
                                                                std::span<const cl_device_id> ids);
  /// Lets go of a sub-device. An Error if there is none of that index.
  Result<void> release_sub_device(wire::DeviceIndex device);

  /// A device of the topology is this one from now on, but for the account of its memory and for what the
  /// program has seen of it: before anything is made on it.
  void replace(wire::DeviceIndex device, const Device& by);

  /// The platform on which the devices of a platform of the program's lie now; nothing if on several.
  std::optional<wire::PlatformIndex> place_of(wire::PlatformIndex platform) const;

 private:
  /// The most sub-devices at a time.
  static constexpr std::size_t kMostSubDevices = 4096;
  /// Each sub-device holds the device that it was split from, and a device of a single compute unit may be
  /// split again and again.
  static constexpr std::uint32_t kDeepest = 16;

  wire::DeviceIndex free_index();

  std::vector<Platform> platforms_;
  std::vector<Device> devices_;
  std::size_t root_count_ = 0;
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
