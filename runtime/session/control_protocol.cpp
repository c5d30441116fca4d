#include "runtime/session/control_protocol.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <limits>

#include "runtime/session/identity.hpp"
#include "runtime/session/json_fields.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestPolicyName = 64;
constexpr std::size_t kLongestList = 1'000'000;
constexpr std::uint64_t kLongestAnswer = std::uint64_t{256} << 20;
constexpr std::uint64_t kLargest32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kLargest64 = std::numeric_limits<std::uint64_t>::max();

std::uint32_t integer32(JsonFields& fields, const char* key) {
  return static_cast<std::uint32_t>(fields.integer(key, 0, kLargest32));
}

json to_json(const Report::Session& session) {
  return {{"session", session.session},       {"pid", session.pid},     {"program", session.program},
          {"worker_pid", session.worker_pid}, {"state", session.state}, {"interactive", session.interactive}};
}

json to_json(const Report::Tenant& tenant) {
  json sessions = json::array();
  for (const Report::Session& session : tenant.sessions) sessions.push_back(to_json(session));
  return {{"tenant", tenant.tenant},
          {"weight", tenant.weight},
          {"uid", tenant.uid},
          {"sessions", std::move(sessions)},
          {"device_time_ns", tenant.device_time_ns},
          {"share", tenant.share},
          {"ideal_share", tenant.ideal_share},
          {"commands", tenant.commands},
          {"launches", tenant.launches},
          {"samples", tenant.samples},
          {"syncs", tenant.syncs},
          {"checked_ns", tenant.checked_ns},
          {"by_events_ns", tenant.by_events_ns}};
}

Result<Report::Session> session_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "session");
  Report::Session session{integer32(fields, "session"), integer32(fields, "pid"),
                          printable(fields.string("program", kLongestText), kLongestProgramName),
                          integer32(fields, "worker_pid"), fields.string("state", kLongestText)};
  if (fields.has("interactive"))
    session.interactive = fields.boolean("interactive");  // not from an older daemon
  if (!fields.ok()) return fields.error();
  return session;
}

Result<Report::Tenant> tenant_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "tenant");
  Report::Tenant tenant;
  tenant.tenant = fields.string("tenant", kLongestTenantName);
  tenant.weight = integer32(fields, "weight");
  tenant.uid = integer32(fields, "uid");
  tenant.ideal_share = fields.number("ideal_share");
  tenant.commands = fields.integer("commands", 0, kLargest64);
  tenant.launches = fields.integer("launches", 0, kLargest64);
  tenant.samples = fields.integer("samples", 0, kLargest64);
  tenant.syncs = fields.integer("syncs", 0, kLargest64);
  if (fields.has("checked_ns")) {  // not from an older daemon
    tenant.checked_ns = fields.integer("checked_ns", 0, kLargest64);
    tenant.by_events_ns = fields.integer("by_events_ns", 0, kLargest64);
  }
  for (const json& time : fields.list("device_time_ns", kLongestList)) {
    tenant.device_time_ns.push_back(time.is_number_unsigned() ? time.get<std::uint64_t>() : 0);
  }
  for (const json& share : fields.list("share", kLongestList)) {
    tenant.share.push_back(share.is_number() ? share.get<double>() : 0);
  }
  for (json& element : fields.list("sessions", kLongestList)) {
    auto session = session_from(std::move(element));
    if (!session) return session.error();
    tenant.sessions.push_back(std::move(session).value());
  }
  if (!fields.ok()) return fields.error();
  return tenant;
}

Result<Report::Device> device_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "device");
  Report::Device device{integer32(fields, "index"),
                        printable(fields.string("platform", kLongestText), kLongestText),
                        printable(fields.string("name", kLongestText), kLongestText),
                        {},
                        {},
                        0};
  if (fields.has("policy")) {
    device.policy = printable(fields.string("policy", kLongestText), kLongestPolicyName);
    device.slice_ms = fields.number("slice_ms");
  }
  if (fields.has("holder")) device.holder = fields.string("holder", kLongestTenantName);
  if (!fields.ok()) return fields.error();
  return device;
}

Report::Daemon daemon_from(JsonFields fields) {
  return {integer32(fields, "pid"), fields.string("version", kLongestText),
          fields.string("socket", kLongestText), fields.number("uptime_s"), fields.number("slice_ms")};
}

}  // namespace

std::string to_text(const ControlRequest& request) {
  switch (request.command) {
    case ControlRequest::Command::set:
      return to_text(json{{"command", "set"}, {"tenant", request.tenant}, {"weight", request.weight}});
    case ControlRequest::Command::set_policy: {
      json message{{"command", "policy"}, {"policy", request.policy}};
      if (request.device) message["device"] = *request.device;
      return to_text(message);
    }
    case ControlRequest::Command::stop:
      return to_text(json{{"command", "stop"}});
    case ControlRequest::Command::ps:
      break;
  }
  return to_text(json{{"command", "ps"}});
}

Result<ControlRequest> parse_control_request(std::string_view text) {
  JsonFields fields(text, "control");
  ControlRequest request;
  const std::string command = fields.string("command", kLongestText);
  if (command == "set") {
    request.command = ControlRequest::Command::set;
    request.tenant = fields.string("tenant", kLongestText);
    request.weight = static_cast<std::uint32_t>(fields.integer("weight", kMinWeight, kMaxWeight));
    if (fields.ok() && !is_tenant_name(request.tenant)) {
      return tenant_name_error(request.tenant, "the tenant's name");
    }
  } else if (command == "policy") {
    request.command = ControlRequest::Command::set_policy;
    request.policy = printable(fields.string("policy", kLongestText), kLongestPolicyName);
    if (fields.has("device")) request.device = integer32(fields, "device");
  } else if (command == "stop") {
    request.command = ControlRequest::Command::stop;
  } else if (command != "ps") {
    fields.fail("has a 'command' that is none of 'ps', 'set', 'policy' and 'stop'");
  }
  if (!fields.ok()) return fields.error();
  return request;
}

std::string to_text(const Report& report) {
  json devices = json::array();
  for (const Report::Device& device : report.devices) {
    devices.push_back({{"index", device.index},
                       {"platform", device.platform},
                       {"name", device.name},
                       {"policy", device.policy},
                       {"slice_ms", device.slice_ms},
                       {"holder", device.holder ? json(*device.holder) : json()}});
  }
  json tenants = json::array();
  for (const Report::Tenant& tenant : report.tenants) tenants.push_back(to_json(tenant));
  return to_text(json{{"ok", true},
                      {"daemon",
                       {{"pid", report.daemon.pid},
                        {"version", report.daemon.version},
                        {"socket", report.daemon.socket},
                        {"uptime_s", report.daemon.uptime_s},
                        {"slice_ms", report.daemon.slice_ms}}},
                      {"devices", std::move(devices)},
                      {"tenants", std::move(tenants)}});
}

Result<Report> parse_report(std::string_view text) {
  if (auto outcome = parse_outcome(text); !outcome) return outcome.error();
  JsonFields fields(text, "daemon's answer");
  Report report;
  report.daemon = daemon_from(JsonFields::nested(fields.object("daemon"), "daemon"));
  for (json& element : fields.list("devices", kLongestList)) {
    auto device = device_from(std::move(element));
    if (!device) return device.error();
    report.devices.push_back(std::move(device).value());
  }
  for (json& element : fields.list("tenants", kLongestList)) {
    auto tenant = tenant_from(std::move(element));
    if (!tenant) return tenant.error();
    report.tenants.push_back(std::move(tenant).value());
  }
  if (!fields.ok()) return fields.error();
  return report;
}

std::string success_text() {
  return to_text(json{{"ok", true}});
}

std::string failure_text(const std::string& error) {
  return to_text(json{{"ok", false}, {"error", error}});
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

Result<void> send_answer(const Socket& socket, const std::string& answer) {
  if (answer.size() <= kMaxPacket) return socket.send(answer);
  const ring::UniqueFd file(::memfd_create("fairgv-answer", MFD_CLOEXEC));
  if (!file) return system_error("cannot make a file for a long answer");
  std::string_view left = answer;
  while (!left.empty()) {
    const ssize_t written = ::write(file.get(), left.data(), left.size());
    if (written < 0) return system_error("cannot write a long answer");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return socket.send(to_text(json{{"ok", true}, {"bytes", answer.size()}}), {file.get()});
}

Result<std::string> receive_answer(const Socket& socket) {
  auto packet = socket.receive();
  if (!packet) return packet.error();
  if (packet->kind != Packet::Kind::message) return Error{"the daemon hung up without an answer"};
  if (packet->fds.empty()) return std::move(packet->text);
  JsonFields fields(packet->text, "daemon's answer");
  std::string answer(fields.integer("bytes", 0, kLongestAnswer), '\0');
  if (!fields.ok()) return fields.error();
  std::size_t done = 0;
  while (done < answer.size()) {
    const ssize_t length = ::pread(packet->fds.front().get(), answer.data() + done, answer.size() - done,
                                   static_cast<off_t>(done));
    if (length <= 0) return system_error("cannot read the daemon's answer");
    done += static_cast<std::size_t>(length);
  }
  return answer;
}

}  // namespace fairgv::session
