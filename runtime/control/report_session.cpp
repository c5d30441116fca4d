#include "runtime/control/report_session.hpp"

#include <charconv>
#include <system_error>
#include <utility>

#include "runtime/control/pause_json.hpp"
#include "runtime/session/long_command_json.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

constexpr std::size_t kMostInSession = 1'000'000;

/// An object whose keys are devices; others are left out.
std::vector<std::pair<std::uint32_t, std::uint32_t>> moved_from(const json& object) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moved;
  for (const auto& [key, place] : object.items()) {
    std::uint32_t device = 0;
    const char* const end = key.data() + key.size();
    const auto read = std::from_chars(key.data(), end, device);
    if (read.ec == std::errc() && read.ptr == end && place.is_number_unsigned())
      moved.emplace_back(device, place.get<std::uint32_t>());
  }
  return moved;
}

json image_json(const Report::Session::Image& image) {
  return {
      {"bytes", image.bytes}, {"in_file", image.in_file}, {"wakes", image.wakes}, {"wanted", image.wanted}};
}

json lent_json(const std::vector<Report::Session::Lent>& all) {
  json list = json::array();
  for (const auto& lent : all) {
    list.push_back({{"device", lent.device},
                    {"there", lent.there},
                    {"brought_in", lent.brought_in},
                    {"taken_out", lent.taken_out}});
  }
  return list;
}

}  // namespace

json to_json(const Report::Session& session) {
  json long_commands = json::array();
  for (const session::LongCommand& command : session.long_commands) long_commands.push_back(to_json(command));
  json moved = json::object();
  for (const auto& [device, place] : session.moved) moved[std::to_string(device)] = place;
  return {{"session", session.session},
          {"pid", session.pid},
          {"program", session.program},
          {"worker_pid", session.worker_pid},
          {"state", session.state},
          {"interactive", session.interactive},
          {"long_commands", std::move(long_commands)},
          {"paused", to_json(session.paused)},
          {"held_back_s", session.held_back_s},
          {"uid", session.uid ? json(*session.uid) : json()},
          {"age_s", session.age_s},
          {"device_time_ns", session.device_time_ns},
          {"memory_used", session.memory_used},
          {"compiles", session.compiles},
          {"waits_for", session.waits_for},
          {"devices", session.devices},
          {"passed_over", session.passed_over},
          {"direct", session.direct},
          {"moving", session.moving},
          {"parked", session.parked},
          {"image", session.image ? image_json(*session.image) : json()},
          {"lent", lent_json(session.lent)},
          {"moved", std::move(moved)}};
}

Result<Report::Session> session_report_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "session");
  Report::Session session{fields.integer32("session"), fields.integer32("pid"),
                          printable(fields.string("program", kLongestText), session::kLongestProgramName),
                          fields.integer32("worker_pid"), fields.string("state", kLongestText)};
  // Not from an older daemon: what follows.
  if (fields.has("interactive")) session.interactive = fields.boolean("interactive");
  if (fields.has("long_commands")) {
    for (json& element : fields.list("long_commands", kMostInSession)) {
      auto command = JsonFields::nested(std::move(element), "long command");
      session.long_commands.push_back(session::long_command_from(command));
      if (!command.ok()) return command.error();
    }
  }
  session.paused = pause_from(fields);
  if (fields.has("held_back_s")) session.held_back_s = fields.number("held_back_s");
  if (fields.has("uid")) {
    session.uid = fields.integer32("uid");
    session.age_s = fields.number("age_s");
    session.device_time_ns = fields.integers("device_time_ns", kMostInSession);
    session.memory_used = fields.integers("memory_used", kMostInSession);
  }
  if (fields.has("direct")) session.direct = fields.boolean("direct");
  if (fields.has("moving")) session.moving = fields.boolean("moving");
  if (fields.has("parked")) session.parked = fields.boolean("parked");
  if (fields.has("image")) {
    auto image = JsonFields::nested(fields.object("image"), "image");
    session.image = {image.integer("bytes"), image.boolean("in_file"), image.boolean("wakes"),
                     image.boolean("wanted")};
    if (!image.ok()) return image.error();
  }
  if (fields.has("lent")) {
    for (json& element : fields.list("lent", kMostInSession)) {
      auto lent = JsonFields::nested(std::move(element), "lent memory");
      session.lent.push_back({lent.integer32("device"), lent.integer("there"), lent.integer("brought_in"),
                              lent.integer("taken_out")});
      if (!lent.ok()) return lent.error();
    }
  }
  if (fields.has("moved")) session.moved = moved_from(fields.object("moved"));
  if (fields.has("compiles")) session.compiles = fields.boolean("compiles");
  if (fields.has("waits_for"))
    session.waits_for = printable(fields.string("waits_for", kLongestText), kLongestText);
  if (fields.has("devices")) {
    for (const std::uint64_t device : fields.integers("devices", kMostInSession))
      session.devices.push_back(static_cast<std::uint32_t>(device));
    for (const json& each : fields.list("passed_over", kMostInSession)) {
      if (each.is_string()) session.passed_over.push_back(printable(each.get<std::string>(), kLongestText));
    }
  }
  if (!fields.ok()) return fields.error();
  return session;
}

}  // namespace fairgv::control
