// A platform: FairGV on one platform of the worker's drivers. Platforms and their devices are made with the
// first connection and live as long as the process; the loader keeps their handles across a fork.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "icd/device.hpp"
#include "icd/info.hpp"
#include "icd/object.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::icd {

class Connection;

class Platform : public Object<Platform> {
 public:
  using Handle = cl_platform_id;
  static constexpr Kind kKind = Kind::platform;
  static constexpr bool kSurvivesFork = true;

  explicit Platform(wire::PlatformIndex index) : index_(index) {}

  /// All platforms, in the worker's order. Connects at the first call; empty if that fails.
  static std::span<Platform* const> all();

  /// Whether a connection's worker has the devices of all(); the connection is told what it must know of
  /// them.
  static bool are_those_of(Connection& connection);

  /// In the child of a fork: what is cached stays out of reach of locks that other threads held.
  static void forget_connection();

  wire::PlatformIndex index() const { return index_; }
  std::span<Device* const> devices() const { return devices_; }

  /// Calls `visit(Device&)` for each device whose type shares a bit with `type`, or for the default one.
  template <class Visit>
  void visit_devices(cl_device_type type, Visit&& visit) const {
    bool found = false;
    for (Device* const device : devices_) {
      if (!is_wanted(*device, type)) continue;
      found = true;
      visit(*device);
    }
    if (!found && (type & CL_DEVICE_TYPE_DEFAULT) != 0 && !devices_.empty()) visit(*devices_.front());
  }

  /// clGetPlatformInfo. What was asked before is answered in line.
  cl_int info(cl_platform_info param, InfoSink sink) {
    if (const wire::InfoReply* const reply = info_.known(param)) return sink.reply(*reply);
    return find_info(param, sink);
  }

 private:
  static std::vector<Platform*> fetch_all();
  /// CL_DEVICE_TYPE_ALL has every bit set but does not mean custom devices (OpenCL 3.0, 4.2).
  static bool is_wanted(const Device& device, cl_device_type type) {
    if (type == CL_DEVICE_TYPE_ALL) return (device.type() & CL_DEVICE_TYPE_CUSTOM) == 0;
    return (device.type() & type) != 0;
  }
  cl_int find_info(cl_platform_info param, InfoSink sink);
  const wire::InfoReply* raw_info(cl_platform_info param);
  /// The driver's answer as programs are to see it.
  static wire::InfoReply adapt(cl_platform_info param, session::Names names, wire::InfoReply reply);

  const wire::PlatformIndex index_;
  std::vector<Device*> devices_;
  InfoCache<cl_platform_info> info_;
};

}  // namespace fairgv::icd
