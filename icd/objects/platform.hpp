// A platform: FairGV on one platform of the worker's drivers. Platforms and their devices are made with the
// first connection and live as long as the process; the loader keeps their handles across a fork.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "icd/objects/device.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
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

  /// Whether a connection's worker has the devices of all(). Tells the connection what it must know of them.
  static bool are_those_of(Connection& connection);

  /// In the child of a fork: drops the caches, whose locks other threads may have held.
  static void forget_connection();

  wire::PlatformIndex index() const { return index_; }
  std::span<Device* const> devices() const { return devices_; }

  /// Puts the devices of a type into `found`, whatever the type's bits, or returns the error. The driver
  /// decides which devices these are (OpenCL 3.0, 4.2, leaves it the default device and every bit that it
  /// does not name) and is asked once for each type. If the daemon has chosen among the devices, the worker
  /// is asked each time: its answer is without the others, and a later session may have others.
  cl_int find_devices(cl_device_type type, std::vector<Device*>& found);

  /// clGetPlatformInfo. A repeated question is answered in line.
  cl_int info(cl_platform_info param, InfoSink sink) {
    if (const wire::InfoReply* const reply = info_.known(param)) return sink.reply(*reply);
    return find_info(param, sink);
  }

 private:
  static std::vector<Platform*> fetch_all();
  cl_int find_info(cl_platform_info param, InfoSink sink);
  const wire::InfoReply* raw_info(cl_platform_info param);
  /// The driver's answer as programs are to see it.
  static wire::InfoReply adapt(cl_platform_info param, session::Names names, wire::InfoReply reply);

  const wire::PlatformIndex index_;
  std::vector<Device*> devices_;
  InfoCache<cl_platform_info> info_;
  InfoCache<cl_device_type, 4> devices_of_type_;  // their indices
};

}  // namespace fairgv::icd
