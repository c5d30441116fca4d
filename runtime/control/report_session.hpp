// A session in the report of `ps`.
#pragma once

#include "runtime/base/json_fields.hpp"
#include "runtime/base/result.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::control {

nlohmann::json to_json(const Report::Session& session);
/// An older daemon's lacks fields.
Result<Report::Session> session_report_from(nlohmann::json object);

}  // namespace fairgv::control
