// A device: one entry of the worker's device list, or a part of another device.
//
// Root devices live as long as the process and are the same in the child of a fork; retaining and releasing
// them does nothing. Sub-devices are counted, and hold the device that they are part of.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::icd {

class Connection;
class Platform;

/// The facts about a device that validation needs, fetched once.
struct DeviceFacts {
  cl_version version = 0;  // CL_MAKE_VERSION
  std::uint64_t max_dimensions = 3;
  std::uint64_t max_group_size = 1;
  std::array<std::uint64_t, 3> max_item_sizes{};
  std::uint64_t address_alignment = 1;  // bytes; CL_DEVICE_MEM_BASE_ADDR_ALIGN
  std::uint64_t max_allocation = 0;     // bytes
  std::uint64_t local_memory = 0;       // bytes
  std::uint64_t queue_properties = 0;
  std::uint64_t data_type_alignment = 1;  // bytes; CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE
  bool non_uniform_groups = false;
  bool shares_host_memory = false;  // a CPU: its buffers lie where the front end reaches them
  bool compiler_available = false;
  bool has_images = false;

  bool at_least(cl_uint major, cl_uint minor) const { return version >= CL_MAKE_VERSION(major, minor, 0); }
};

class Device : public Object<Device> {
 public:
  using Handle = cl_device_id;
  static constexpr Kind kKind = Kind::device;
  static constexpr bool kSurvivesFork = true;

  Device(Platform& platform, wire::DeviceIndex index, cl_device_type type)
      : platform_(platform), index_(index), type_(type) {}
  /// A sub-device that the worker knows by `index`. It belongs to the connection: the child of a fork has no
  /// sub-devices of its parent.
  Device(Device& parent, Connection& connection, wire::DeviceIndex index)
      : Object(false),
        platform_(parent.platform_),
        index_(index),
        type_(parent.type_),
        parent_(parent),
        owner_(&connection) {}
  ~Device();

  Platform& platform() const { return platform_; }
  wire::DeviceIndex index() const { return index_; }
  cl_device_type type() const { return type_; }
  /// The connection on which the device is known by its index: a sub-device's own connection, or for a root
  /// device the current connection. nullptr if there is none.
  Connection* connection() const;
  /// The device that a sub-device was split from; null for a root device.
  Device* parent() const { return parent_.get(); }
  /// The root device: this device, or the device that it is part of.
  const Device& root() const { return parent_ ? parent_->root() : *this; }

  /// clRetainDevice, clReleaseDevice.
  cl_int retain_reference();
  cl_int release_reference();

  /// clCreateSubDevices. `properties` has its final 0. Fails if there is room for fewer devices than the
  /// partition makes. `made` and `count` may be null.
  cl_int partition(std::span<const cl_device_partition_property> properties, cl_uint room, cl_device_id* made,
                   cl_uint* count);

  /// clGetDeviceInfo. A repeated question is answered in line: programs ask in their inner loops.
  cl_int info(cl_device_info param, InfoSink sink) {
    if (const wire::InfoReply* const reply = info_.known(param)) return sink.reply(*reply);
    return find_info(param, sink.size, sink.value, sink.size_ret);
  }

  /// The driver's answer, masked; nullptr if the session is lost.
  const wire::InfoReply* raw_info(cl_device_info param);

  /// CL_DEVICE_SVM_CAPABILITIES: the driver's capabilities that FairGV serves.
  cl_device_svm_capabilities svm_capabilities();

  /// nullptr if the session is lost before the facts were fetched.
  const DeviceFacts* facts();

  /// Whether the driver takes commands of this type that move no bytes. The driver's answer is remembered.
  cl_int ask_for_empty_commands(const wire::CheckEmptyCommand& question, Connection& connection);

  /// In the child of a fork.
  void forget_connection() {
    info_.forget();
    std::construct_at(&facts_mutex_);
    std::construct_at(&empty_commands_mutex_);
  }

 private:
  /// The sink is passed in pieces: as one object it would have to be written to memory first.
  cl_int find_info(cl_device_info param, std::size_t size, void* value, std::size_t* size_ret);
  /// Shows the tenant's share of the device instead of the whole.
  void limit_memory(cl_device_info param, Connection& connection, wire::InfoReply& reply) const;
  /// CL_DEVICE_GLOBAL_FREE_MEMORY_AMD: the free memory of the device that the tenant may have.
  cl_int free_memory(InfoSink sink);
  /// Shared virtual memory needs a device that shares memory with the host, and a worker that shares its
  /// addresses with this process.
  bool serves_svm(Connection& connection);
  template <class T>
  std::optional<T> number(cl_device_info param);
  std::optional<DeviceFacts> fetch_facts();
  cl_version fetch_version();

  Platform& platform_;
  const wire::DeviceIndex index_;
  const cl_device_type type_;
  const Ref<Device> parent_;
  Connection* const owner_ = nullptr;  // of a sub-device
  InfoCache<cl_device_info, 128> info_;
  std::mutex facts_mutex_;
  std::optional<DeviceFacts> facts_;  // guarded by facts_mutex_ until ready
  std::atomic<const DeviceFacts*> ready_{nullptr};
  std::mutex empty_commands_mutex_;
  std::map<cl_command_type, cl_int> empty_commands_;  // guarded by empty_commands_mutex_
};

/// A hold on each device.
inline std::vector<Ref<Device>> holds_on(std::span<Device* const> devices) {
  std::vector<Ref<Device>> held;
  for (Device* device : devices) held.emplace_back(*device);
  return held;
}

/// "OpenCL 3.0 …" or "OpenCL C 1.2 …" as a cl_version; 1.0 if it reads otherwise.
cl_version parse_version(std::string_view text);

}  // namespace fairgv::icd
