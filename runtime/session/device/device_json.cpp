#include "runtime/session/device/device_json.hpp"

#include <nlohmann/json.hpp>

namespace fairgv::session {
namespace {

constexpr std::size_t kLongestNameOfDevice = 256;

}  // namespace

nlohmann::json to_json(const DeviceDescription& device) {
  return {{"platform", device.platform}, {"name", device.name}, {"type", device.type},
          {"memory", device.memory},     {"id", device.id},     {"speed", device.speed}};
}

/// An older worker does not say all.
DeviceDescription device_from(JsonFields& fields) {
  const auto text = [&](const char* key, std::size_t longest) {
    return printable(fields.string(key, longest), longest);
  };
  DeviceDescription device;
  device.platform = text("platform", kLongestNameOfDevice);
  device.name = text("name", kLongestNameOfDevice);
  device.type = fields.integer("type");
  if (fields.has("memory")) device.memory = fields.integer("memory");
  if (fields.has("id")) device.id = text("id", kLongestDeviceId);
  if (fields.has("speed")) device.speed = fields.integer("speed");
  return device;
}

}  // namespace fairgv::session
