#include "tools/fairgv/trace/trace_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/base/json_fields.hpp"
#include "runtime/session/turn_wait.hpp"

namespace fairgv::tools {
namespace {

using nlohmann::json;
using session::TracedCommand;

/// Devices are the first processes of a trace, tenants follow.
constexpr std::uint64_t kFirstDeviceProcess = 1;
constexpr std::uint64_t kFirstTenantProcess = 1000;
constexpr std::uint64_t kDeviceTurnsThread = 1;

/// Microseconds with all their nanoseconds.
std::string in_us(std::uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string quoted(const std::string& text) {
  return json_text(json(text));
}

}  // namespace

TraceWriter::TraceWriter(std::ostream& out) : out_(out) {
  out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
}

void TraceWriter::add(const Report& report) {
  devices_ = report.devices;
  for (const Report::Session& session : report.sessions) sessions_[session.session] = session;
  for (const Report::Name& name : report.names) names_[{name.session, name.number}] = quoted(name.name);
  totals_.sessions = sessions_.size();
  totals_.lost_commands = report.lost_commands;
  totals_.lost_turns = report.lost_turns;
  open_turns_.clear();
  for (const Report::Turn& turn : report.turns) {
    if (turn.over != 0) {
      write_turn(turn);
    } else {
      open_turns_.push_back(turn);
    }
  }
  for (const Report::Command& command : report.commands) add_command(command);
  for (const Report::Call& call : report.calls) write_call(call);
  for (const Report::Memory& memory : report.memory) {
    write({{"ph", "C"},
           {"name", "device memory"},
           {"pid", tenant_process(memory.tenant)},
           {"ts", static_cast<double>(report.now_ns) / 1e3},
           {"args", {{fmt::format("device {}, bytes", memory.device), memory.bytes}}}});
  }
}

void TraceWriter::finish() {
  for (const Report::Turn& turn : open_turns_) write_turn(turn);
  for (const auto& [key, parts] : parts_) {
    for (const Report::Command& part : parts) write_command(part, 0);
  }
  out_ << "\n],\"otherData\":"
       << json_text(json{{"clock", "CLOCK_MONOTONIC"},
                         {"lost_commands", totals_.lost_commands},
                         {"lost_turns", totals_.lost_turns}})
       << "}\n";
}

void TraceWriter::write(const json& event) {
  out_ << (std::exchange(first_, false) ? "\n" : ",\n") << json_text(event);
}

/// There are tens of thousands of them a second, and a tree of values for each would cost ten times as much.
void TraceWriter::write_span(const Place& place, std::string_view name, std::string_view category,
                             std::uint64_t began_ns, std::uint64_t ended_ns, std::string_view arguments) {
  out_ << fmt::format(
      R"({}{{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      std::exchange(first_, false) ? "\n" : ",\n", name, category, place.process, place.thread,
      in_us(began_ns), in_us(ended_ns - began_ns), arguments);
}

void TraceWriter::name_process(std::uint64_t process, const std::string& name) {
  write({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"tid", 0}, {"args", {{"name", name}}}});
  write({{"ph", "M"},
         {"name", "process_sort_index"},
         {"pid", process},
         {"tid", 0},
         {"args", {{"sort_index", process}}}});
}

std::uint64_t TraceWriter::tenant_process(const std::string& tenant) {
  const auto [found, fresh] = processes_.try_emplace(tenant, kFirstTenantProcess + processes_.size());
  if (fresh) name_process(found->second, "tenant " + tenant);
  return found->second;
}

TraceWriter::Place TraceWriter::device_place(std::uint32_t device) {
  const Place place{kFirstDeviceProcess + device, kDeviceTurnsThread};
  if (!std::exchange(device_named_[device], true)) {
    name_process(place.process,
                 fmt::format("device {} {}", device, device < devices_.size() ? devices_[device] : ""));
    write({{"ph", "M"},
           {"name", "thread_name"},
           {"pid", place.process},
           {"tid", place.thread},
           {"args", {{"name", "turns, by tenant"}}}});
  }
  return place;
}

std::string TraceWriter::track_name(const Report::Session& session, std::uint32_t which, Track track) {
  if (track == Track::calls) {
    const std::string number = which == 0 ? "" : fmt::format(" ({})", which + 1);
    return fmt::format("{} {}: calls{}", session.program, session.pid, number);
  }
  return fmt::format("{} {}, device {}: {}", session.program, session.pid, which,
                     track == Track::turns ? "turns and waits" : "commands");
}

TraceWriter::Place TraceWriter::place_of(std::uint32_t session, std::uint32_t which, Track track) {
  const auto key = std::tuple(session, which, track);
  if (const auto found = places_.find(key); found != places_.end()) return found->second;
  const Report::Session& its = sessions_.at(session);
  const Place place{tenant_process(its.tenant), places_.size() + 1};
  write({{"ph", "M"},
         {"name", "thread_name"},
         {"pid", place.process},
         {"tid", place.thread},
         {"args", {{"name", track_name(its, which, track)}}}});
  places_.emplace(key, place);
  return place;
}

void TraceWriter::write_turn(const Report::Turn& turn) {
  const auto session = sessions_.find(turn.session);
  const bool in_order = turn.wanted_ns <= turn.granted_ns && turn.granted_ns <= turn.ended_ns;
  if (session == sessions_.end() || !in_order) return;
  ++totals_.turns;
  const Report::Session& its = session->second;
  const std::string arguments = fmt::format(
      R"("session":{},"pid":{},"program":{},"slice_us":{},"charged_us":{},"over":{},"promised":{},"in_flight_us":{})",
      turn.session, its.pid, quoted(its.program), in_us(turn.slice_ns), in_us(turn.charged_ns),
      turn.over != 0, turn.promised != 0, in_us(turn.in_flight_ns));
  write_span(device_place(turn.device), quoted(its.tenant), "grant", turn.granted_ns, turn.ended_ns,
             arguments);
  const Place place = place_of(turn.session, turn.device, Track::turns);
  write_span(place, R"("wait")", "wait", turn.wanted_ns, turn.granted_ns,
             fmt::format(R"("session":{})", turn.session));
  write_span(place, R"("turn")", "turn", turn.granted_ns, turn.ended_ns, arguments);
}

/// The number of a launch's parts is known when the launch has ended.
void TraceWriter::add_command(const Report::Command& command) {
  if (!sessions_.contains(command.session) || command.command.began_ns > command.command.ended_ns) return;
  auto& parts = parts_[{command.session, command.command.device}];
  if (command.command.kind == TracedCommand::kPart) {
    parts.push_back(command);
    return;
  }
  if (command.command.kind == TracedCommand::kInParts) {
    for (const Report::Command& part : parts) write_command(part, command.command.part);
    parts.clear();
  }
  ++totals_.commands;
  write_command(command, 0);
}

std::string_view TraceWriter::name_of(std::uint32_t session, std::uint32_t number) const {
  const auto found = names_.find({session, number});
  return found == names_.end() ? std::string_view("\"(unnamed)\"") : found->second;
}

void TraceWriter::write_command(const Report::Command& command, std::uint32_t parts) {
  const TracedCommand& its = command.command;
  const bool transfer = its.kind == TracedCommand::kTransfer;
  std::string arguments = transfer
                              ? fmt::format(R"("session":{},"bytes":{})", command.session, its.amount)
                              : fmt::format(R"("session":{},"groups":{},"grid":[{},{},{}])", command.session,
                                            its.amount, its.grid[0], its.grid[1], its.grid[2]);
  const auto add = std::back_inserter(arguments);
  const char* category = transfer ? "transfer" : "launch";
  if (its.kind == TracedCommand::kPart) {
    category = "slice";
    fmt::format_to(add, R"(,"slice":{},"of":{})", its.part, parts == 0 ? "null" : std::to_string(parts));
  } else if (its.kind == TracedCommand::kInParts) {
    category = "launch in slices";
    fmt::format_to(add, R"(,"slices":{})", its.part);
  } else {
    fmt::format_to(add, R"(,"queued_in_driver_us":{})", its.delay_us);
    if (its.together > 1) fmt::format_to(add, R"(,"ended_together":{})", its.together);
  }
  if (its.waited_for != 0)
    fmt::format_to(add, R"(,"waited_for":"{}")", session::name_of_wait(its.waited_for));
  write_span(place_of(command.session, its.device, Track::commands), name_of(command.session, command.name),
             category, its.began_ns, its.ended_ns, arguments);
}

/// Events of one track may not overlap, and several threads of a program may wait at the same time: this
/// takes the session's first track that is free then. Calls come in the order of their ends.
std::uint32_t TraceWriter::free_track(const Report::Call& call) {
  std::vector<std::uint64_t>& ended = calls_ended_ns_[call.session];
  const auto free = std::find_if(ended.begin(), ended.end(),
                                 [&](std::uint64_t until) { return until <= call.call.began_ns; });
  const auto track = static_cast<std::uint32_t>(free - ended.begin());
  if (free == ended.end()) ended.push_back(0);
  ended[track] = call.call.ended_ns;
  return track;
}

void TraceWriter::write_call(const Report::Call& call) {
  const session::TracedCall& its = call.call;
  if (!sessions_.contains(call.session) || its.began_ns > its.ended_ns) return;
  ++totals_.calls;
  const bool answered = its.kind == session::TracedCall::kAnswered;
  write_span(place_of(call.session, free_track(call), Track::calls), name_of(call.session, call.name), "call",
             its.began_ns, its.ended_ns,
             fmt::format(R"("session":{},"waited_for":"{}")", call.session, answered ? "reply" : "command"));
}

}  // namespace fairgv::tools
