// A context: devices of one platform whose objects know each other.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "icd/memory/svm.hpp"
#include "icd/objects/device.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {

class Context : public Object<Context> {
 public:
  using Handle = cl_context;
  static constexpr Kind kKind = Kind::context;
  static constexpr bool kSurvivesFork = false;

  /// `devices`: all of one platform, at least one, no duplicates. `properties`: as the application gave them,
  /// with the final 0, or empty.
  Context(Connection& connection, std::vector<Device*> devices,
          std::vector<cl_context_properties> properties);
  /// Calls the destructor callbacks, the latest first.
  ~Context();

  Connection& connection() const { return connection_; }
  session::ClientSession& session() const { return connection_.session(); }
  wire::ObjectId id() const { return id_; }
  std::span<Device* const> devices() const { return devices_; }
  /// Whether the device, or a device that it is part of, is in the context: some drivers take sub-devices
  /// wherever they take the whole device.
  bool has_device(const Device& device) const;

  /// The devices on which an object of the context is charged: bit d is device d of the topology if it, or a
  /// part of it, is in the context.
  std::uint64_t root_devices() const { return root_devices_; }
  /// Reserves device memory for an object of its own memory; see MemoryQuota::reserve().
  cl_int reserve_memory(std::uint64_t bytes, MemoryReservation& reservation) const {
    return connection_.memory_quota().reserve({root_devices_, bytes}, reservation);
  }

  /// Whether buffers lie where this process reaches them: all devices share memory with the host, and the
  /// driver supports all operations on such buffers.
  bool reaches_buffers();

  SvmAllocations& svm() { return svm_; }

  void add_destructor_callback(std::function<void(cl_context)> callback);

  /// The driver's answer to clGetSupportedImageFormats, asked for once: a cl_image_format array. nullptr if
  /// the session is lost.
  const wire::InfoReply* image_formats(cl_mem_flags flags, cl_mem_object_type type);

  /// clGetContextInfo.
  cl_int info(cl_context_info param, InfoSink sink) const;

 private:
  bool ask_whether_reaches_buffers();

  Connection& connection_;
  const wire::ObjectId id_;
  const std::vector<Device*> devices_;
  const std::vector<Ref<Device>> held_devices_;
  std::uint64_t root_devices_ = 0;
  std::vector<cl_device_id> device_handles_;  // of devices_, as queries return them
  const std::vector<cl_context_properties> properties_;
  InfoCache<std::pair<cl_mem_flags, cl_mem_object_type>> image_formats_;
  SvmAllocations svm_;
  std::once_flag reaches_buffers_known_;
  bool reaches_buffers_ = false;
  std::mutex mutex_;  // guards destructor_callbacks_
  std::vector<std::function<void(cl_context)>> destructor_callbacks_;
};

}  // namespace fairgv::icd
