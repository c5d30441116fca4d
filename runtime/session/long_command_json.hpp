// A LongCommand as both protocols write it: worker to daemon, and daemon to `fairgv ps`.
//
// Private to this room.
#pragma once

#include "runtime/base/json_fields.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::session {

nlohmann::json to_json(const LongCommand& command);

/// Texts are made printable and cut to kLongestCommandText. An impossible value is an error of `fields`.
LongCommand long_command_from(JsonFields& fields);

}  // namespace fairgv::session
