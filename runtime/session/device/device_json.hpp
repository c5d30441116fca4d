// A device's description as JSON: in the messages of workers that are ready, and in the options of trials.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/base/json_fields.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::session {

nlohmann::json to_json(const DeviceDescription& device);
/// If they describe none, the fields have an error afterwards. Texts are made harmless.
DeviceDescription device_from(JsonFields& fields);

}  // namespace fairgv::session
