#include "runtime/session/trace_report.hpp"

#include "runtime/session/control_protocol.hpp"
#include "runtime/session/json_fields.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestTraceList = 50'000'000;
constexpr std::size_t kTurnNumbers = 8;
constexpr std::size_t kCommandNumbers = 13;
constexpr std::size_t kCallNumbers = 5;

json numbers_of(const TraceReport::Turn& turn) {
  return json::array({turn.session, turn.device, turn.wanted_ns, turn.granted_ns, turn.ended_ns,
                      turn.charged_ns, turn.slice_ns, turn.over ? 1U : 0U});
}

json numbers_of(const TraceReport::Command& command) {
  const TracedCommand& traced = command.command;
  return json::array({command.session, command.name, traced.began_ns, traced.ended_ns, traced.amount,
                      traced.delay_us, traced.part, traced.grid[0], traced.grid[1], traced.grid[2],
                      traced.together, traced.device, traced.kind});
}

json numbers_of(const TraceReport::Call& call) {
  return json::array({call.session, call.name, call.call.began_ns, call.call.ended_ns, call.call.kind});
}

/// The numbers of a row; empty if it is none of so many.
std::vector<std::uint64_t> row_of(const json& row, std::size_t count) {
  std::vector<std::uint64_t> numbers;
  if (!row.is_array() || row.size() != count) return numbers;
  for (const json& number : row) {
    if (!number.is_number_unsigned()) return {};
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

TraceReport::Turn turn_from(const std::vector<std::uint64_t>& row) {
  return {static_cast<std::uint32_t>(row[0]),
          static_cast<std::uint32_t>(row[1]),
          row[2],
          row[3],
          row[4],
          row[5],
          row[6],
          row[7] != 0};
}

TraceReport::Command command_from(const std::vector<std::uint64_t>& row) {
  const auto small = [&](std::size_t index) { return static_cast<std::uint32_t>(row[index]); };
  TraceReport::Command command{small(0), small(1), {}};
  command.command = {row[2],
                     row[3],
                     row[4],
                     small(5),
                     small(6),
                     {small(7), small(8), small(9)},
                     static_cast<std::uint16_t>(row[10]),
                     static_cast<std::uint8_t>(row[11]),
                     static_cast<std::uint8_t>(row[12])};
  return command;
}

TraceReport::Call call_from(const std::vector<std::uint64_t>& row) {
  const auto small = [&](std::size_t index) { return static_cast<std::uint32_t>(row[index]); };
  return {small(0), small(1), {row[2], row[3], small(4), 0}};
}

template <class Item, class Make>
void read_rows(JsonFields& fields, const char* key, std::size_t count, std::vector<Item>& to, Make make) {
  for (const json& element : fields.list(key, kLongestTraceList)) {
    const auto row = row_of(element, count);
    if (row.empty()) return fields.fail("has '" + std::string(key) + "' with a row that is none");
    to.push_back(make(row));
  }
}

void read_texts(JsonFields& fields, TraceReport& report) {
  for (json& element : fields.list("sessions", kLongestTraceList)) {
    auto its = JsonFields::nested(std::move(element), "traced session");
    report.sessions.push_back({its.integer32("session"), its.string("tenant", kLongestTenantName),
                               its.integer32("pid"),
                               printable(its.string("program", kLongestText), kLongestProgramName)});
    if (!its.ok()) return fields.fail(its.error().message);
  }
  for (json& element : fields.list("names", kLongestTraceList)) {
    auto its = JsonFields::nested(std::move(element), "traced name");
    report.names.push_back({its.integer32("session"), its.integer32("number"),
                            printable(its.string("name", kLongestText), kLongestCommandText)});
    if (!its.ok()) return fields.fail(its.error().message);
  }
  for (json& element : fields.list("memory", kLongestTraceList)) {
    auto its = JsonFields::nested(std::move(element), "traced memory");
    report.memory.push_back(
        {its.string("tenant", kLongestTenantName), its.integer32("device"), its.integer("bytes")});
    if (!its.ok()) return fields.fail(its.error().message);
  }
  for (const json& name : fields.list("devices", kLongestTraceList)) {
    report.devices.push_back(name.is_string() ? printable(name.get<std::string>(), kLongestText) : "");
  }
}

}  // namespace

std::string to_text(const TraceReport& report) {
  json sessions = json::array(), names = json::array(), turns = json::array(), commands = json::array(),
       calls = json::array(), memory = json::array();
  for (const auto& each : report.sessions) {
    sessions.push_back(
        {{"session", each.session}, {"tenant", each.tenant}, {"pid", each.pid}, {"program", each.program}});
  }
  for (const auto& each : report.names) {
    names.push_back({{"session", each.session}, {"number", each.number}, {"name", each.name}});
  }
  for (const auto& each : report.turns) turns.push_back(numbers_of(each));
  for (const auto& each : report.commands) commands.push_back(numbers_of(each));
  for (const auto& each : report.calls) calls.push_back(numbers_of(each));
  for (const auto& each : report.memory) {
    memory.push_back({{"tenant", each.tenant}, {"device", each.device}, {"bytes", each.bytes}});
  }
  return to_text(json{{"ok", true},
                      {"now_ns", report.now_ns},
                      {"devices", report.devices},
                      {"sessions", std::move(sessions)},
                      {"names", std::move(names)},
                      {"turns", std::move(turns)},
                      {"commands", std::move(commands)},
                      {"calls", std::move(calls)},
                      {"memory", std::move(memory)},
                      {"lost_commands", report.lost_commands},
                      {"lost_turns", report.lost_turns}});
}

Result<TraceReport> parse_trace_report(std::string_view text) {
  if (auto outcome = parse_outcome(text); !outcome) return outcome.error();
  JsonFields fields(text, "daemon's answer");
  TraceReport report;
  report.now_ns = fields.integer("now_ns");
  report.lost_commands = fields.integer("lost_commands");
  report.lost_turns = fields.integer("lost_turns");
  read_texts(fields, report);
  read_rows(fields, "turns", kTurnNumbers, report.turns, turn_from);
  read_rows(fields, "commands", kCommandNumbers, report.commands, command_from);
  // A daemon before this one does not record them.
  if (fields.has("calls")) read_rows(fields, "calls", kCallNumbers, report.calls, call_from);
  if (!fields.ok()) return fields.error();
  return report;
}

}  // namespace fairgv::session
