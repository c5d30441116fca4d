// A Pause as reports (control/protocol.hpp) and the daemon's hand-over write it: the field "paused".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/json_fields.hpp"
#include "runtime/control/pause.hpp"

namespace fairgv::control {

/// Null where there is none.
nlohmann::json to_json(const std::optional<Pause>& pause);
/// None where the field is missing, as from an older daemon, or null.
std::optional<Pause> pause_from(JsonFields& fields);

}  // namespace fairgv::control
