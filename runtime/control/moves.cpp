#include "runtime/control/moves.hpp"

#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

constexpr std::size_t kMostMoves = 1'000'000;

std::vector<std::uint32_t> devices_in(JsonFields& fields, const char* key) {
  std::vector<std::uint32_t> devices;
  for (const std::uint64_t device : fields.integers(key, session::kMaxDevices))
    devices.push_back(static_cast<std::uint32_t>(device));
  return devices;
}

MovedSession moved_session_from(JsonFields& fields) {
  MovedSession move;
  move.session = fields.integer32("session");
  move.from = devices_in(fields, "from");
  move.to = devices_in(fields, "to");
  move.bytes = fields.integer("bytes");
  move.held_ms = fields.number("held_ms");
  if (fields.has("reason")) move.reason = printable(fields.string("reason", kLongestText), kLongestText);
  if (fields.has("error")) move.error = printable(fields.string("error", kLongestText), kLongestText);
  return move;
}

}  // namespace

std::string to_text(const MoveReport& report) {
  json moves = json::array();
  for (const MovedSession& move : report.moves) {
    moves.push_back({{"session", move.session},
                     {"from", move.from},
                     {"to", move.to},
                     {"bytes", move.bytes},
                     {"held_ms", move.held_ms}});
    if (!move.reason.empty()) moves.back()["reason"] = move.reason;
    if (!move.error.empty()) moves.back()["error"] = move.error;
  }
  return json_text(json{{"ok", true}, {"moves", std::move(moves)}});
}

Result<MoveReport> parse_move_report(std::string_view text) {
  FAIRGV_CHECK(parse_outcome(text));
  JsonFields fields(text, "daemon's answer");
  MoveReport report;
  for (json& element : fields.list("moves", kMostMoves)) {
    auto move = JsonFields::nested(std::move(element), "session that has moved");
    report.moves.push_back(moved_session_from(move));
    if (!move.ok()) return move.error();
  }
  if (!fields.ok()) return fields.error();
  return report;
}

}  // namespace fairgv::control
