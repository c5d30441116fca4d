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
#include "runtime/wire/codec.hpp"
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
  /// The device, or that which it is part of, and its platform as the program knows them: not `id` and
  /// `platform`, where the session has moved.
  cl_device_id known_as = nullptr;
  wire::PlatformIndex known_on = 0;
  /// How often a device was split to make it.
  std::uint32_t depth = 0;
  /// Of a sub-device: the driver's reference, and that of the device it was split from. Every object that the
  /// driver makes for a sub-device must hold it.
  std::shared_ptr<const void> owner;
};

/// A device that the program has split, as another worker is told of it.
struct Partition {
  /// In the place of a part that the program has let go of.
  static constexpr wire::DeviceIndex kGone = ~wire::DeviceIndex{0};

  std::uint64_t number = 0;              // among all of the session, in their order, from 1
  std::uint64_t of = 0;                  // the partition whose part was split; 0: a device of the topology
  wire::DeviceIndex device = 0;          // that device, or the part's place in its partition
  std::vector<std::int64_t> properties;  // cl_device_partition_property, with the final 0
  std::vector<wire::DeviceIndex> parts;  // in the driver's order
  FAIRGV_FIELDS(number, of, device, properties, parts)
};

/// Whether a driver finds the end of the list that it is given (OpenCL 3.0, 4.3): of one scheme, complete.
bool is_partition(std::span<const std::int64_t> properties);

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

  struct SubDevices {
    cl_int error = CL_SUCCESS;
    std::vector<wire::DeviceIndex> indices;
  };
  /// Splits a device (is_partition()). CL_OUT_OF_RESOURCES also if there are too many sub-devices, or it was
  /// split too often.
  SubDevices split(wire::DeviceIndex device, std::span<const std::int64_t> properties);
  /// Lets go of a sub-device. An Error if there is none of that index.
  Result<void> release_sub_device(wire::DeviceIndex device);

  /// All that make_again() needs in another worker.
  std::vector<Partition> partitions();
  /// Whether something still uses a sub-device that the program has let go of.
  bool has_strays() const;
  /// Has these partitions and no others: makes those that it has not, and lets go of the parts that are gone.
  /// An Error if a device cannot be split as in the other worker.
  Result<void> make_again(std::span<const Partition> partitions);

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

  /// A part of a partition. It may be used, or be split itself, when the program has let go of it.
  struct Part {
    Device device;  // without its owner
    std::weak_ptr<const void> owner;
  };
  struct Split {
    Partition what;
    std::vector<Part> parts;
  };
  using Owners = std::vector<std::shared_ptr<const void>>;

  Result<Device> whole_of(const Partition& partition) const;
  std::optional<std::vector<Device>> parts_of(const Device& whole, std::span<const cl_device_id> ids) const;
  Result<void> make_again(const Partition& partition, Owners& held);
  void add(Partition what, const std::vector<Device>& parts);
  void let_go(Split& split, std::size_t part);
  void forget_unused();
  wire::DeviceIndex free_index();

  std::vector<Platform> platforms_;
  std::vector<Device> devices_;
  std::size_t root_count_ = 0;
  std::vector<Split> splits_;  // those of which a part is used, in their order
  std::uint64_t latest_split_ = 0;
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
