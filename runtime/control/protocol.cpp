#include "runtime/control/protocol.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

/// Milliseconds since 1970: the year 9999.
constexpr std::uint64_t kLatestTime = 253'402'300'799'000;

/// Tenants with programs of one window.
constexpr std::size_t kMostInFront = 1'000;

constexpr std::uint64_t kLongestAnswer = std::uint64_t{256} << 20;

/// Commands on one session, or on all sessions of a tenant.
constexpr std::pair<ControlRequest::Command, const char*> kInterventions[] = {
    {ControlRequest::Command::kill, "kill"},     {ControlRequest::Command::pause, "pause"},
    {ControlRequest::Command::resume, "resume"}, {ControlRequest::Command::migrate, "migrate"},
    {ControlRequest::Command::park, "park"},
};

const std::pair<ControlRequest::Command, const char*>* find_intervention(std::string_view command) {
  const auto* const found = std::find_if(std::begin(kInterventions), std::end(kInterventions),
                                         [&](const auto& each) { return each.second == command; });
  return found == std::end(kInterventions) ? nullptr : found;
}

json intervention(const ControlRequest& request, const char* command) {
  json message{{"command", command}};
  if (request.session) {
    message["session"] = *request.session;
  } else {
    message["tenant"] = request.tenant;
  }
  if (request.device) message["device"] = *request.device;
  if (request.force) message["force"] = true;
  if (request.to_file) message["to_file"] = true;
  if (request.wake) message["wake"] = true;
  return message;
}

constexpr std::pair<ControlRequest::Command, const char*> kCheckpoints[] = {
    {ControlRequest::Command::checkpoint, "checkpoint"},
    {ControlRequest::Command::checkpoint_copied, "checkpoint copied"},
    {ControlRequest::Command::restore, "restore"},
    {ControlRequest::Command::restore_filled, "restore filled"},
};

template <std::size_t N>
const char* name_in(const std::pair<ControlRequest::Command, const char*> (&list)[N],
                    ControlRequest::Command command) {
  return std::find_if(std::begin(list), std::end(list),
                      [&](const auto& each) { return each.first == command; })
      ->second;
}

std::string checkpoint_text(const ControlRequest& request) {
  json message{{"command", name_in(kCheckpoints, request.command)}, {"session", request.session.value_or(0)}};
  if (request.facts) message["facts"] = to_json(*request.facts);
  return json_text(message);
}

/// Whether the command is one of them, and was read.
bool read_checkpoint(const std::string& command, JsonFields& fields, ControlRequest& request) {
  const auto* const found = std::find_if(std::begin(kCheckpoints), std::end(kCheckpoints),
                                         [&](const auto& each) { return command == each.second; });
  if (found == std::end(kCheckpoints)) return false;
  request.command = found->first;
  request.session = fields.integer32("session");
  if (request.command == ControlRequest::Command::restore) {
    auto facts = checkpoint_facts_from(fields.object("facts"));
    if (!facts) fields.fail(facts.error().message);
    if (facts) request.facts = std::move(facts).value();
  }
  return true;
}

/// Either of the two, and not both.
void read_target(JsonFields& fields, ControlRequest& request) {
  if (fields.has("session")) request.session = fields.integer32("session");
  if (fields.has("tenant")) request.tenant = fields.string("tenant", kLongestText);
  if (request.session.has_value() == fields.has("tenant")) fields.fail("must name a session or a tenant");
}

}  // namespace

std::string to_text(const ControlRequest& request) {
  switch (request.command) {
    case ControlRequest::Command::set: {
      json message{{"command", "set"}, {"tenant", request.tenant}};
      if (request.memory) message["memory"] = to_text(*request.memory);
      add_to(message, request.wish);
      return json_text(message);
    }
    case ControlRequest::Command::set_policy: {
      json message{{"command", "policy"}, {"policy", request.policy}};
      if (request.device) message["device"] = *request.device;
      return json_text(message);
    }
    case ControlRequest::Command::trace: {
      json message{{"command", "trace"}};
      if (!request.tenant.empty()) message["tenant"] = request.tenant;
      if (request.device) message["device"] = *request.device;
      return json_text(message);
    }
    case ControlRequest::Command::stop:
      return json_text(json{{"command", "stop"}});
    case ControlRequest::Command::restart:
      return json_text(json{{"command", "restart"}});
    case ControlRequest::Command::usage:
      return json_text(json{{"command", "usage"},
                            {"since_ms", request.usage.since_ms},
                            {"until_ms", request.usage.until_ms},
                            {"by", kUsageByNames.at(static_cast<std::size_t>(request.usage.by))}});
    case ControlRequest::Command::reload:
      return json_text(json{{"command", "reload"}});
    case ControlRequest::Command::config:
      return json_text(json{{"command", "config"}});
    case ControlRequest::Command::whoami: {
      json message{{"command", "whoami"}};
      if (!request.tenant.empty()) message["tenant"] = request.tenant;
      add_to(message, request.wish);
      return json_text(message);
    }
    case ControlRequest::Command::kill:
      return json_text(intervention(request, "kill"));
    case ControlRequest::Command::pause:
      return json_text(intervention(request, "pause"));
    case ControlRequest::Command::resume:
      return json_text(intervention(request, "resume"));
    case ControlRequest::Command::migrate:
      return json_text(intervention(request, "migrate"));
    case ControlRequest::Command::park:
      return json_text(intervention(request, "park"));
    case ControlRequest::Command::drain:
    case ControlRequest::Command::undrain: {
      const bool drain = request.command == ControlRequest::Command::drain;
      return json_text(
          json{{"command", drain ? "drain" : "undrain"}, {"device", request.device.value_or(0)}});
    }
    case ControlRequest::Command::checkpoint:
    case ControlRequest::Command::checkpoint_copied:
    case ControlRequest::Command::restore:
    case ControlRequest::Command::restore_filled:
      return checkpoint_text(request);
    case ControlRequest::Command::focus:
      return json_text(json{{"command", "focus"}, {"tenants", request.front}});
    case ControlRequest::Command::show:
      return json_text(json{{"command", "show"}, {"session", request.session.value_or(0)}});
    case ControlRequest::Command::ps:
      break;
  }
  return json_text(json{{"command", "ps"}});
}

Result<ControlRequest> parse_control_request(std::string_view text) {
  JsonFields fields(text, "control");
  ControlRequest request;
  const std::string command = fields.string("command", kLongestText);
  if (command == "set") {
    request.command = ControlRequest::Command::set;
    request.tenant = fields.string("tenant", kLongestText);
    if (fields.has("memory")) request.memory = fields.memory_size("memory", "the memory");
    request.wish = session::read_tenant_wish(fields);
    if (!request.memory && request.wish.empty()) fields.fail("says nothing to set");
    if (fields.ok() && !session::is_tenant_name(request.tenant)) {
      return session::tenant_name_error(request.tenant, "the tenant's name");
    }
  } else if (command == "policy") {
    request.command = ControlRequest::Command::set_policy;
    request.policy = printable(fields.string("policy", kLongestText), kLongestPolicyName);
    if (fields.has("device")) request.device = fields.integer32("device");
  } else if (command == "trace") {
    request.command = ControlRequest::Command::trace;
    if (fields.has("tenant")) request.tenant = fields.string("tenant", kLongestText);
    if (fields.has("device")) request.device = fields.integer32("device");
    if (fields.ok() && !request.tenant.empty() && !session::is_tenant_name(request.tenant)) {
      return session::tenant_name_error(request.tenant, "the tenant's name");
    }
  } else if (command == "stop") {
    request.command = ControlRequest::Command::stop;
  } else if (command == "restart") {
    request.command = ControlRequest::Command::restart;
  } else if (command == "usage") {
    request.command = ControlRequest::Command::usage;
    request.usage.since_ms = static_cast<std::int64_t>(fields.integer("since_ms", 0, kLatestTime));
    request.usage.until_ms = static_cast<std::int64_t>(fields.integer("until_ms", 0, kLatestTime));
    const auto by = parse_usage_by(fields.string("by", kLongestText));
    if (fields.ok() && !by) return by.error();
    if (by) request.usage.by = by.value();
  } else if (command == "reload") {
    request.command = ControlRequest::Command::reload;
  } else if (command == "config") {
    request.command = ControlRequest::Command::config;
  } else if (command == "whoami") {
    request.command = ControlRequest::Command::whoami;
    if (fields.has("tenant")) request.tenant = fields.string("tenant", kLongestText);
    request.wish = session::read_tenant_wish(fields);
    if (!request.tenant.empty() && !session::is_tenant_name(request.tenant)) {
      return session::tenant_name_error(request.tenant, "the tenant's name");
    }
  } else if (command == "focus") {
    request.command = ControlRequest::Command::focus;
    for (const json& name : fields.list("tenants", kMostInFront)) {
      request.front.push_back(name.is_string() ? name.get<std::string>() : "");
      if (!session::is_tenant_name(request.front.back())) {
        return session::tenant_name_error(request.front.back(), "the tenant's name");
      }
    }
  } else if (const auto* const found = find_intervention(command)) {
    request.command = found->first;
    read_target(fields, request);
    if (request.command == ControlRequest::Command::migrate) {
      if (fields.has("device")) request.device = fields.integer32("device");
      if (fields.has("force")) request.force = fields.boolean("force");
    }
    if (request.command == ControlRequest::Command::park) {
      if (fields.has("to_file")) request.to_file = fields.boolean("to_file");
      if (fields.has("wake")) request.wake = fields.boolean("wake");
    }
    if (fields.ok() && !request.session && !session::is_tenant_name(request.tenant)) {
      return session::tenant_name_error(request.tenant, "the tenant's name");
    }
  } else if (command == "drain" || command == "undrain") {
    request.command = command == "drain" ? ControlRequest::Command::drain : ControlRequest::Command::undrain;
    request.device = fields.integer32("device", 0, session::kMaxDevices - 1);
  } else if (command == "show") {
    request.command = ControlRequest::Command::show;
    request.session = fields.integer32("session");
  } else if (!read_checkpoint(command, fields, request) && command != "ps") {
    fields.fail(
        "has a 'command' that is none of 'ps', 'set', 'policy', 'trace', 'kill', 'pause', 'resume', "
        "'migrate', 'park', 'drain', 'undrain', 'checkpoint', 'restore', 'stop', 'restart', 'usage', "
        "'reload', 'config', 'whoami', "
        "'focus' and 'show'");
  }
  if (!fields.ok()) return fields.error();
  return request;
}

std::string success_text(const std::vector<std::string>& warnings) {
  json answer{{"ok", true}};
  if (!warnings.empty()) answer["warnings"] = warnings;
  return json_text(answer);
}

std::string failure_text(const std::string& error) {
  return json_text(json{{"ok", false}, {"error", error}});
}

Result<void> parse_outcome(std::string_view text) {
  JsonFields fields(text, "daemon's answer");
  const bool ok = fields.boolean("ok");
  const std::string error =
      !fields.ok() || ok ? "" : printable(fields.string("error", kLongestText), kLongestText);
  if (!fields.ok()) return fields.error();
  if (!ok) return Error{error};
  return {};
}

/// Of one answer.
constexpr std::size_t kMostWarnings = 100;

std::vector<std::string> warnings_of(std::string_view text) {
  JsonFields fields(text, "daemon's answer");
  std::vector<std::string> warnings;
  if (!fields.has("warnings")) return warnings;
  for (const json& warning : fields.list("warnings", kMostWarnings)) {
    if (warning.is_string()) warnings.push_back(printable(warning.get<std::string>(), kLongestText));
  }
  return warnings;
}

Result<void> send_answer(const Socket& socket, const std::string& answer) {
  if (answer.size() <= kMaxPacket) return socket.send(answer);
  FAIRGV_TRY(file, memory_file(answer, "a long answer"));
  return socket.send(json_text(json{{"ok", true}, {"bytes", answer.size()}}), {file->get()});
}

Result<std::string> receive_answer(const Socket& socket) {
  FAIRGV_TRY(packet, socket.receive());
  if (packet->kind != Packet::Kind::message) return Error{kHungUp};
  if (packet->fds.empty()) return std::move(packet->text);
  JsonFields fields(packet->text, "daemon's answer");
  const std::uint64_t bytes = fields.integer("bytes", 0, kLongestAnswer);
  if (!fields.ok()) return fields.error();
  auto answer = read_memory_file(packet->fds.front().get(), kLongestAnswer, "the daemon's answer");
  if (answer && answer->size() != bytes)
    return Error{"the daemon's answer is not as long as the daemon says"};
  return answer;
}

}  // namespace fairgv::control
