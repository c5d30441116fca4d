#include "runtime/daemon/handover.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <limits>

#include "runtime/session/json_fields.hpp"
#include "runtime/session/long_command_json.hpp"

namespace fairgv::daemon {
namespace {

using nlohmann::json;
using session::JsonFields;
using session::kLongestText;

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMostRecords = 1'000'000;

// ---- writing

json to_json(const TenantBooks& books) {
  const WorkCounters& ended = books.ended;
  return {{"device_time", static_cast<std::uint64_t>(books.device_time.count())},
          {"commands", ended.commands},
          {"launches", ended.launches},
          {"samples", ended.samples},
          {"syncs", ended.syncs},
          {"checked", ended.checked_ns},
          {"by_events", ended.by_events_ns}};
}

json to_json(const HandedTenant& tenant) {
  json object{{"name", tenant.name}, {"uid", tenant.uid}, {"books", json::array()}};
  if (tenant.asked) object["asked"] = *tenant.asked;
  if (tenant.set) object["set"] = *tenant.set;
  if (tenant.asked_memory) object["asked_memory"] = session::to_text(*tenant.asked_memory);
  if (tenant.set_memory) object["set_memory"] = session::to_text(*tenant.set_memory);
  if (!tenant.class_name.empty()) object["class"] = tenant.class_name;
  if (tenant.assigned) object["assigned"] = true;
  for (const TenantBooks& books : tenant.books) object["books"].push_back(to_json(books));
  return object;
}

json to_json(const HandedSession& session) {
  json object{{"id", session.id},
              {"tenant", session.tenant},
              {"pid", session.peer.pid},
              {"uid", session.peer.uid},
              {"gid", session.peer.gid},
              {"program", session.program},
              {"features", session.features},
              {"slicing", session.slicing},
              {"long_commands", json::array()},
              {"worker", session.worker},
              {"client", session.client},
              {"channel", session.channel},
              {"ledger", session.ledger},
              {"knock", session.knock},
              {"turns", session.turns},
              {"segment", session.segment},
              {"used", session.used_ns},
              {"memory", session.memory}};
  for (const auto& command : session.long_commands) {
    object["long_commands"].push_back(session::to_json(command));
  }
  return object;
}

// ---- reading

int descriptor(JsonFields& fields, const char* key) {
  return static_cast<int>(fields.integer(key, 3, std::numeric_limits<int>::max()));
}

TenantBooks books_from(JsonFields fields, JsonFields& whole) {
  const auto number = [&](const char* key) {
    return fields.integer(key, 0, std::numeric_limits<std::int64_t>::max());
  };
  TenantBooks books{Dispatcher::Duration(number("device_time")),
                    {number("commands"), number("launches"), number("samples"), number("syncs"),
                     number("checked"), number("by_events")}};
  if (!fields.ok()) whole.fail("has a tenant's books that cannot be read");
  return books;
}

HandedTenant tenant_from(JsonFields fields, JsonFields& whole) {
  HandedTenant tenant;
  tenant.name = fields.string("name", session::kLongestTenantName);
  tenant.uid = fields.integer32("uid");
  if (fields.has("asked")) tenant.asked = fields.integer32("asked");
  if (fields.has("set")) tenant.set = fields.integer32("set");
  if (fields.has("asked_memory")) tenant.asked_memory = fields.memory_size("asked_memory", "the memory");
  if (fields.has("set_memory")) tenant.set_memory = fields.memory_size("set_memory", "the memory");
  if (fields.has("class")) tenant.class_name = fields.string("class", session::kLongestTenantName);
  if (fields.has("assigned")) tenant.assigned = fields.boolean("assigned");
  for (json& books : fields.list("books", session::kMaxDevices)) {
    tenant.books.push_back(books_from(JsonFields::nested(std::move(books), "books"), whole));
  }
  if (!fields.ok()) whole.fail("has a tenant that cannot be read: " + fields.error().message);
  return tenant;
}

HandedSession session_from(JsonFields fields, JsonFields& whole) {
  HandedSession session;
  session.id = fields.integer32("id");
  session.tenant = fields.string("tenant", session::kLongestTenantName);
  session.peer = {static_cast<pid_t>(fields.integer32("pid")), fields.integer32("uid"),
                  fields.integer32("gid")};
  session.program = fields.string("program", kLongestText);
  session.features = fields.integer("features");
  session.slicing = fields.string("slicing", kLongestText);
  session.worker = static_cast<pid_t>(fields.integer32("worker"));
  session.client = descriptor(fields, "client");
  session.channel = descriptor(fields, "channel");
  session.ledger = descriptor(fields, "ledger");
  session.knock = descriptor(fields, "knock");
  session.turns = descriptor(fields, "turns");
  session.segment = descriptor(fields, "segment");
  for (json& command : fields.list("long_commands", kMostRecords)) {
    auto nested = JsonFields::nested(std::move(command), "long command");
    session.long_commands.push_back(session::long_command_from(nested));
    if (!nested.ok()) whole.fail("has a long command that cannot be read");
  }
  session.used_ns = fields.integers("used", session::kMaxDevices);
  session.memory = fields.integers("memory", session::kMaxDevices);
  if (!fields.ok()) whole.fail("has a session that cannot be read: " + fields.error().message);
  return session;
}

}  // namespace

std::string to_text(const Handover& handover) {
  json object{{"handover", kVersion},     {"listener", handover.listener},
              {"lock", handover.lock},    {"last_session", handover.last_session},
              {"devices", json::array()}, {"tenants", json::array()},
              {"sessions", json::array()}};
  for (const auto& device : handover.devices) {
    object["devices"].push_back({{"platform", device.platform},
                                 {"name", device.name},
                                 {"type", device.type},
                                 {"memory", device.memory}});
  }
  for (const HandedTenant& tenant : handover.tenants) object["tenants"].push_back(to_json(tenant));
  for (const HandedSession& session : handover.sessions) object["sessions"].push_back(to_json(session));
  return session::to_text(object);
}

Result<Handover> parse_handover(std::string_view text) {
  JsonFields fields(text, "handover");
  if (fields.ok()) fields.integer("handover", kVersion, kVersion);
  Handover handover;
  handover.listener = descriptor(fields, "listener");
  handover.lock = descriptor(fields, "lock");
  handover.last_session = fields.integer32("last_session");
  for (json& each : fields.list("devices", session::kMaxDevices)) {
    auto device = JsonFields::nested(std::move(each), "device");
    handover.devices.push_back({device.string("platform", kLongestText), device.string("name", kLongestText),
                                device.integer("type"), device.integer("memory")});
    if (!device.ok()) fields.fail("has a device that cannot be read");
  }
  for (json& each : fields.list("tenants", kMostRecords)) {
    handover.tenants.push_back(tenant_from(JsonFields::nested(std::move(each), "tenant"), fields));
  }
  for (json& each : fields.list("sessions", kMostRecords)) {
    handover.sessions.push_back(session_from(JsonFields::nested(std::move(each), "session"), fields));
  }
  if (!fields.ok()) return fields.error();
  return handover;
}

Result<ring::UniqueFd> store(const Handover& handover) {
  const std::string text = to_text(handover);
  ring::UniqueFd file(::memfd_create("fairgv-handover", 0));  // without MFD_CLOEXEC: that is its purpose
  if (!file) return system_error("cannot make a memory file");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written <= 0) return system_error("cannot write a memory file");
    done += static_cast<std::size_t>(written);
  }
  return file;
}

Result<Handover> take(ring::UniqueFd file) {
  std::string text;
  std::array<char, 16'384> piece{};
  for (off_t at = 0;;) {
    const ssize_t length = ::pread(file.get(), piece.data(), piece.size(), at);
    if (length < 0) return system_error("cannot read what the daemon before has left");
    if (length == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(length));
    at += length;
  }
  return parse_handover(text);
}

bool keep_over_exec(const Handover& handover, bool keep) {
  const int flag = keep ? 0 : FD_CLOEXEC;
  bool all = ::fcntl(handover.listener, F_SETFD, flag) == 0 && ::fcntl(handover.lock, F_SETFD, flag) == 0;
  for (const HandedSession& session : handover.sessions) {
    for (const int fd :
         {session.client, session.channel, session.ledger, session.knock, session.turns, session.segment}) {
      all = ::fcntl(fd, F_SETFD, flag) == 0 && all;
    }
  }
  return all;
}

}  // namespace fairgv::daemon
