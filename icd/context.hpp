// A context: devices of one platform whose objects know each other.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "icd/connection.hpp"
#include "icd/device.hpp"
#include "icd/info.hpp"
#include "icd/object.hpp"

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
  bool has_device(const Device& device) const {
    return std::find(devices_.begin(), devices_.end(), &device) != devices_.end();
  }

  void add_destructor_callback(std::function<void(cl_context)> callback);

  /// clGetContextInfo.
  cl_int info(cl_context_info param, const InfoSink& sink) const;

 private:
  Connection& connection_;
  const wire::ObjectId id_;
  const std::vector<Device*> devices_;
  std::vector<cl_device_id> device_handles_;  // of the same, as queries return them
  const std::vector<cl_context_properties> properties_;
  std::mutex mutex_;  // guards destructor_callbacks_
  std::vector<std::function<void(cl_context)>> destructor_callbacks_;
};

}  // namespace fairgv::icd
