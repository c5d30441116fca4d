// Platforms and devices: the lists, the driver's answers about them, devices split in parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct DeviceEntry {
  PlatformIndex platform = 0;
  std::uint64_t type = 0;  // cl_device_type
  FAIRGV_FIELDS(platform, type)
};

struct TopologyReply {
  std::uint32_t platform_count = 0;
  std::vector<DeviceEntry> devices;  // in the driver's order; DeviceIndex is the position here
  /// The worker has the segment where it was wanted (ring::Segment::at_wanted_address).
  std::uint8_t at_wanted_address = 0;
  FAIRGV_FIELDS(platform_count, devices, at_wanted_address)
};

/// Platforms and devices of the worker's driver(s), fetched once per session.
struct GetTopology {
  FAIRGV_CALL(GetTopology, 0x0002, TopologyReply)
  std::uint32_t unused = 0;
  FAIRGV_FIELDS(unused)
};

struct GetPlatformInfo {
  FAIRGV_CALL(GetPlatformInfo, 0x0003, InfoReply)
  PlatformIndex platform = 0;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(platform, param)
};

struct GetDeviceInfo {
  FAIRGV_CALL(GetDeviceInfo, 0x0004, InfoReply)
  DeviceIndex device = 0;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(device, param)
};

struct DevicesReply {
  std::int32_t error = 0;
  std::vector<DeviceIndex> devices;
  FAIRGV_FIELDS(error, devices)
};

/// The devices of the topology that the driver counts to a type: the answer of clGetDeviceIDs.
struct GetDevicesOfType {
  FAIRGV_CALL(GetDevicesOfType, 0x0013, DevicesReply)
  PlatformIndex platform = 0;
  std::uint64_t type = 0;  // cl_device_type, whatever its bits
  FAIRGV_FIELDS(platform, type)
};

struct SubDevicesReply {
  std::int32_t error = 0;
  std::uint32_t count = 0;           // how many the partition makes
  std::vector<DeviceIndex> devices;  // as many, or none if they were only counted
  FAIRGV_FIELDS(error, count, devices)
};

/// Splits a device. The worker gives each new sub-device an index, which every call takes like an index of
/// the topology until ReleaseSubDevice.
struct CreateSubDevices {
  FAIRGV_CALL(CreateSubDevices, 0x0010, SubDevicesReply)
  DeviceIndex device = 0;
  std::uint8_t only_count = 0;
  std::span<const std::int64_t> properties;  // cl_device_partition_property, with the final 0
  FAIRGV_FIELDS(device, only_count, properties)
};

/// The front end is done with a sub-device; its index may be given to another one.
struct ReleaseSubDevice {
  FAIRGV_CALL(ReleaseSubDevice, 0x0011, void)
  DeviceIndex device = 0;
  FAIRGV_FIELDS(device)
};

struct TimersReply {
  std::int32_t error = 0;
  std::uint64_t device = 0, host = 0;  // nanoseconds of the driver's clocks
  FAIRGV_FIELDS(error, device, host)
};

/// The driver's clocks: the host's, and the device's as well if it is asked for.
struct GetTimers {
  FAIRGV_CALL(GetTimers, 0x0012, TimersReply)
  DeviceIndex device = 0;
  std::uint8_t only_host = 0;
  FAIRGV_FIELDS(device, only_host)
};

using DeviceCalls = TypeList<GetTopology, GetPlatformInfo, GetDeviceInfo, CreateSubDevices, ReleaseSubDevice,
                             GetTimers, GetDevicesOfType>;

}  // namespace fairgv::wire
