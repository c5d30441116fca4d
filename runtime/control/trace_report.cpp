#include "runtime/control/trace_report.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/base/json_fields.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestTraceList = 50'000'000;

template <class Row>
constexpr bool kIsPacked = std::is_trivially_copyable_v<Row>&& std::has_unique_object_representations_v<Row>;
static_assert(kIsPacked<TraceReport::Turn> && kIsPacked<TraceReport::Command> && kIsPacked<TraceReport::Call>,
              "rows are sent as they lie in memory, where padding would be whatever lay there");

template <class Row>
void append_rows(std::string& to, const std::vector<Row>& rows) {
  to.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row));
}

/// The next `count` rows; whether there were so many.
template <class Row>
bool take_rows(std::string_view& from, std::uint64_t count, std::vector<Row>& to) {
  if (count > from.size() / sizeof(Row)) return false;
  to.resize(count);
  if (count != 0) std::memcpy(to.data(), from.data(), count * sizeof(Row));
  from.remove_prefix(count * sizeof(Row));
  return true;
}

void read_texts(JsonFields& fields, TraceReport& report) {
  for (json& element : fields.list("sessions", kLongestTraceList)) {
    auto its = JsonFields::nested(std::move(element), "traced session");
    report.sessions.push_back({its.integer32("session"), its.string("tenant", session::kLongestTenantName),
                               its.integer32("pid"),
                               printable(its.string("program", kLongestText), session::kLongestProgramName)});
    if (!its.ok()) return fields.fail(its.error().message);
  }
  for (json& element : fields.list("names", kLongestTraceList)) {
    auto its = JsonFields::nested(std::move(element), "traced name");
    report.names.push_back({its.integer32("session"), its.integer32("number"),
                            printable(its.string("name", kLongestText), session::kLongestCommandText)});
    if (!its.ok()) return fields.fail(its.error().message);
  }
  for (json& element : fields.list("memory", kLongestTraceList)) {
    auto its = JsonFields::nested(std::move(element), "traced memory");
    report.memory.push_back(
        {its.string("tenant", session::kLongestTenantName), its.integer32("device"), its.integer("bytes")});
    if (!its.ok()) return fields.fail(its.error().message);
  }
  for (const json& name : fields.list("devices", kLongestTraceList)) {
    report.devices.push_back(name.is_string() ? printable(name.get<std::string>(), kLongestText) : "");
  }
}

}  // namespace

std::string pack(const TraceReport& report) {
  json sessions = json::array(), names = json::array(), memory = json::array();
  for (const auto& each : report.sessions) {
    sessions.push_back(
        {{"session", each.session}, {"tenant", each.tenant}, {"pid", each.pid}, {"program", each.program}});
  }
  for (const auto& each : report.names) {
    names.push_back({{"session", each.session}, {"number", each.number}, {"name", each.name}});
  }
  for (const auto& each : report.memory) {
    memory.push_back({{"tenant", each.tenant}, {"device", each.device}, {"bytes", each.bytes}});
  }
  std::string packed = json_text(json{{"ok", true},
                                      {"now_ns", report.now_ns},
                                      {"devices", report.devices},
                                      {"sessions", std::move(sessions)},
                                      {"names", std::move(names)},
                                      {"memory", std::move(memory)},
                                      {"turns", report.turns.size()},
                                      {"commands", report.commands.size()},
                                      {"calls", report.calls.size()},
                                      {"lost_commands", report.lost_commands},
                                      {"lost_turns", report.lost_turns}});
  packed += '\0';
  append_rows(packed, report.turns);
  append_rows(packed, report.commands);
  append_rows(packed, report.calls);
  return packed;
}

Result<TraceReport> unpack_trace_report(std::string_view packed) {
  const std::size_t end = std::min(packed.find('\0'), packed.size());
  const std::string_view text = packed.substr(0, end);
  std::string_view rows = packed.substr(std::min(end + 1, packed.size()));
  FAIRGV_CHECK(parse_outcome(text));
  JsonFields fields(text, "daemon's answer");
  TraceReport report;
  report.now_ns = fields.integer("now_ns");
  report.lost_commands = fields.integer("lost_commands");
  report.lost_turns = fields.integer("lost_turns");
  read_texts(fields, report);
  const std::uint64_t turns = fields.integer("turns");
  const std::uint64_t commands = fields.integer("commands");
  const std::uint64_t calls = fields.integer("calls");
  if (!fields.ok()) return fields.error();
  if (!take_rows(rows, turns, report.turns) || !take_rows(rows, commands, report.commands) ||
      !take_rows(rows, calls, report.calls) || !rows.empty()) {
    return Error{
        "the daemon's answer has turns, commands and calls of another length than this fairgv's: "
        "use the fairgv of the daemon's release ('fairgv ps' says which)"};
  }
  return report;
}

}  // namespace fairgv::control
