#include "runtime/daemon/handover/handover.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/base/json_fields.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/control/pause_json.hpp"
#include "runtime/session/long_command_json.hpp"

namespace fairgv::daemon {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMostRecords = 1'000'000;
constexpr const char* kLeft = "what the daemon before has left";

// ---- writing

std::uint64_t number_of(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

json to_json(const WorkCounters& work) {
  json object = json::object();
  for (const WorkCounter& counter : kWorkCounters) object[counter.name] = work.*counter.value;
  return object;
}

json to_json(const TenantBooks& books) {
  json object = to_json(books.ended);
  object["device_time"] = number_of(books.device_time);
  object["outside"] = number_of(books.outside);
  object["waited"] = number_of(books.waits.sum());
  object["wait_buckets"] = json::array();
  object["wait_counts"] = json::array();
  for (const auto& [bucket, count] : books.waits.filled()) {
    object["wait_buckets"].push_back(bucket);
    object["wait_counts"].push_back(count);
  }
  return object;
}

json to_json(const HandedTenant& tenant) {
  json object{{"name", tenant.name}, {"uid", tenant.uid}, {"books", json::array()}};
  if (tenant.asked) object["asked"] = *tenant.asked;
  if (tenant.set) object["set"] = *tenant.set;
  if (tenant.asked_memory) object["asked_memory"] = to_text(*tenant.asked_memory);
  if (tenant.set_memory) object["set_memory"] = to_text(*tenant.set_memory);
  if (!tenant.class_name.empty()) object["class"] = tenant.class_name;
  if (tenant.assigned) object["assigned"] = true;
  if (tenant.paused) object["paused"] = control::to_json(tenant.paused);
  if (const std::uint32_t strikes = tenant.probation.strikes(tenant.probation.last()); strikes > 0) {
    object["strikes"] = strikes;
    object["last_kill"] = number_of(tenant.probation.last().time_since_epoch());
  }
  for (const TenantBooks& books : tenant.books) object["books"].push_back(to_json(books));
  object["counts"] = {{"sessions", tenant.counts.sessions},
                      {"crashes", tenant.counts.crashes},
                      {"watchdog", tenant.counts.watchdog},
                      {"violations", tenant.counts.violations}};
  object["entitled"] = number_of(tenant.entitled);
  object["memory"] = json::array();
  for (const MemoryTotals& memory : tenant.memory) {
    object["memory"].push_back({{"byte_seconds", memory.byte_seconds}, {"refusals", memory.refusals}});
  }
  object["sampled"] = json::array();
  for (const auto& amounts : tenant.sampled) object["sampled"].push_back(control::to_json(amounts));
  return object;
}

json to_json(std::uint32_t device, const TurnBooks& turn) {
  json object{{"device", device},
              {"granted", number_of(turn.granted.time_since_epoch())},
              {"charged", number_of(turn.charged)},
              {"before", number_of(turn.before)}};
  if (turn.contested) object["contested"] = number_of(turn.contested->time_since_epoch());
  return object;
}

json to_json(const Kill& kill) {
  return {{"session", kill.session.value},
          {"tenant", kill.tenant},
          {"uid", kill.uid},
          {"pid", kill.pid},
          {"program", kill.program},
          {"reason", kill.reason},
          {"at", number_of(kill.at.time_since_epoch())}};
}

json to_json(const HandedSession& session) {
  json object{{"id", session.id},
              {"tenant", session.tenant},
              {"pid", session.peer.pid},
              {"uid", session.peer.uid},
              {"gid", session.peer.gid},
              {"program", session.program},
              {"features", session.features},
              {"driver_messages", true},
              {"slicing", session.slicing},
              {"long_commands", json::array()},
              {"worker", session.worker.pid},
              {"client", session.client},
              {"channel", session.channel},
              {"ledger", session.ledger},
              {"knock", session.knock},
              {"turns", session.turns},
              {"segment", session.segment},
              {"used", session.books.used_ns},
              {"work", json::array()},
              {"turns_in_progress", json::array()},
              {"devices", session.devices},
              {"memory", session.memory}};
  if (!session.worker.sweeps) object["sweeps"] = false;
  if (session.worker.group >= 0) {
    object["group"] = session.worker.group;
    object["group_path"] = session.worker.group_path;
  }
  if (session.messages >= 0) object["messages"] = session.messages;
  if (session.api != session::Api::opencl) object["api"] = to_text(session.api);
  if (session.paused) object["paused"] = control::to_json(session.paused);
  if (session.held_back_until)
    object["held_back_until"] = number_of(session.held_back_until->time_since_epoch());
  if (session.started) object["started"] = number_of(session.started->time_since_epoch());
  for (const WorkCounters& work : session.books.work) object["work"].push_back(to_json(work));
  for (std::uint32_t device = 0; device < session.books.turns.size(); ++device) {
    const auto& turn = session.books.turns[device];
    if (turn) object["turns_in_progress"].push_back(to_json(device, *turn));
  }
  for (const auto& command : session.long_commands) {
    object["long_commands"].push_back(session::to_json(command));
  }
  return object;
}

// ---- reading

int descriptor(JsonFields& fields, const char* key) {
  return static_cast<int>(fields.integer(key, 3, std::numeric_limits<int>::max()));
}

std::uint64_t number(JsonFields& fields, const char* key) {
  return fields.integer(key, 0, std::numeric_limits<std::int64_t>::max());
}

std::chrono::nanoseconds time(JsonFields& fields, const char* key) {
  return std::chrono::nanoseconds(number(fields, key));
}

/// Counters that came later are missing in an older daemon's text.
WorkCounters work_from(JsonFields& fields) {
  WorkCounters work;
  for (const WorkCounter& counter : kWorkCounters) {
    if (fields.has(counter.name)) work.*counter.value = number(fields, counter.name);
  }
  return work;
}

WaitHistogram waits_from(JsonFields& fields) {
  const auto buckets = fields.integers("wait_buckets", WaitHistogram::kBuckets);
  const auto counts = fields.integers("wait_counts", WaitHistogram::kBuckets);
  std::vector<std::pair<std::size_t, std::uint64_t>> filled;
  if (buckets.size() != counts.size()) fields.fail("has waits that cannot be read");
  for (std::size_t i = 0; i < std::min(buckets.size(), counts.size()); ++i) {
    filled.emplace_back(buckets[i], counts[i]);
  }
  WaitHistogram waits;
  if (!waits.restore(filled, time(fields, "waited"))) fields.fail("has waits that cannot be read");
  return waits;
}

TenantBooks books_from(JsonFields fields, JsonFields& whole) {
  TenantBooks books{.device_time = time(fields, "device_time"),
                    .outside = fields.has("outside") ? time(fields, "outside") : std::chrono::nanoseconds(0),
                    .ended = work_from(fields)};
  if (fields.has("waited")) books.waits = waits_from(fields);
  if (!fields.ok()) whole.fail("has a tenant's books that cannot be read");
  return books;
}

/// What daemons did not hand over at first.
void read_totals(JsonFields& fields, HandedTenant& tenant) {
  if (!fields.has("counts")) return;
  auto counts = JsonFields::nested(fields.object("counts"), "counts");
  tenant.counts = {number(counts, "sessions"), number(counts, "crashes"), number(counts, "watchdog"),
                   number(counts, "violations")};
  if (!counts.ok()) fields.fail("has counts that cannot be read");
  tenant.entitled = time(fields, "entitled");
  for (json& each : fields.list("memory", session::kMaxDevices)) {
    auto memory = JsonFields::nested(std::move(each), "memory");
    tenant.memory.push_back({memory.number("byte_seconds"), number(memory, "refusals")});
    if (!memory.ok()) fields.fail("has memory that cannot be read");
  }
  for (json& each : fields.list("sampled", session::kMaxDevices)) {
    auto sampled = JsonFields::nested(std::move(each), "sampled");
    tenant.sampled.push_back(control::usage_amounts_from(sampled));
    if (!sampled.ok()) fields.fail("has what was sampled, and it cannot be read");
  }
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
  tenant.paused = control::pause_from(fields);
  if (fields.has("strikes")) {
    tenant.probation = Probation(fields.integer32("strikes"), Probation::Time(time(fields, "last_kill")));
  }
  for (json& books : fields.list("books", session::kMaxDevices)) {
    tenant.books.push_back(books_from(JsonFields::nested(std::move(books), "books"), whole));
  }
  read_totals(fields, tenant);
  if (!fields.ok()) whole.fail("has a tenant that cannot be read: " + fields.error().message);
  return tenant;
}

/// Where its devices are among the host's. Before there were views all workers saw the same.
std::vector<std::uint32_t> devices_from(JsonFields& fields, std::size_t host_devices) {
  if (!fields.has("devices")) return DeviceView::first(host_devices).all();
  std::vector<std::uint32_t> devices;
  for (const std::uint64_t device : fields.integers("devices", session::kMaxDevices)) {
    const bool twice = std::find(devices.begin(), devices.end(), device) != devices.end();
    if (device >= host_devices || twice) fields.fail("has a device that there is not");
    devices.push_back(static_cast<std::uint32_t>(device));
  }
  return devices;
}

void turns_from(JsonFields& fields, SessionBooks& books) {
  books.turns.resize(books.used_ns.size());
  if (!fields.has("turns_in_progress")) return;
  for (json& each : fields.list("turns_in_progress", session::kMaxDevices)) {
    auto turn = JsonFields::nested(std::move(each), "turn");
    const std::uint64_t device = turn.integer("device");
    TurnBooks held{.granted = sched::Time(time(turn, "granted")),
                   .contested = {},
                   .charged = time(turn, "charged"),
                   .before = time(turn, "before")};
    if (turn.has("contested")) held.contested = sched::Time(time(turn, "contested"));
    if (!turn.ok() || device >= books.turns.size()) return fields.fail("has a turn that cannot be read");
    books.turns[device] = held;
  }
}

Kill kill_from(JsonFields fields, JsonFields& whole) {
  Kill kill{.session = {fields.integer32("session")},
            .tenant = fields.string("tenant", session::kLongestTenantName),
            .uid = fields.integer32("uid"),
            .pid = static_cast<pid_t>(fields.integer32("pid")),
            .program = fields.string("program", kLongestText),
            .reason = fields.string("reason", kLongestText),
            .at = Kill::Time(time(fields, "at"))};
  if (!fields.ok()) whole.fail("has a killed session that cannot be read: " + fields.error().message);
  return kill;
}

HandedSession session_from(JsonFields fields, JsonFields& whole) {
  HandedSession session;
  session.id = fields.integer32("id");
  session.tenant = fields.string("tenant", session::kLongestTenantName);
  session.peer = {static_cast<pid_t>(fields.integer32("pid")), fields.integer32("uid"),
                  fields.integer32("gid")};
  session.program = fields.string("program", kLongestText);
  session.features = fields.integer("features");
  // Named by the client, but not by a daemon that did not know it: the client does not expect it then.
  if (!fields.has("driver_messages")) session.features &= ~std::uint64_t{session::kDriverMessages};
  session.slicing = fields.string("slicing", kLongestText);
  const bool cuda = fields.has("api") && fields.string("api", kLongestText) == to_text(session::Api::cuda);
  session.api = cuda ? session::Api::cuda : session::Api::opencl;
  session.worker.pid = static_cast<pid_t>(fields.integer32("worker"));
  if (fields.has("sweeps")) session.worker.sweeps = fields.boolean("sweeps");
  if (fields.has("group")) {
    session.worker.group = descriptor(fields, "group");
    session.worker.group_path = fields.string("group_path", kLongestText);
  }
  if (fields.has("messages")) session.messages = descriptor(fields, "messages");
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
  session.books.used_ns = fields.integers("used", session::kMaxDevices);
  session.devices = devices_from(fields, session.books.used_ns.size());
  turns_from(fields, session.books);
  if (fields.has("work")) {
    for (json& each : fields.list("work", session::kMaxDevices)) {
      auto work = JsonFields::nested(std::move(each), "work");
      session.books.work.push_back(work_from(work));
      if (!work.ok()) fields.fail("has work that cannot be read");
    }
  }
  session.memory = fields.integers("memory", session::kMaxDevices);
  session.paused = control::pause_from(fields);
  if (fields.has("held_back_until")) {
    session.held_back_until = std::chrono::steady_clock::time_point(time(fields, "held_back_until"));
  }
  if (fields.has("started")) {
    session.started = std::chrono::steady_clock::time_point(time(fields, "started"));
  }
  if (!fields.ok()) whole.fail("has a session that cannot be read: " + fields.error().message);
  return session;
}

}  // namespace

std::string to_text(const Handover& handover) {
  json object{{"handover", kVersion},          {"listener", handover.listener},
              {"lock", handover.lock},         {"last_session", handover.last_session},
              {"restarts", handover.restarts}, {"served_s", handover.served_s},
              {"devices", json::array()},      {"tenants", json::array()},
              {"sessions", json::array()},     {"kills", json::array()}};
  if (handover.listener_is_borrowed) object["listener_is_borrowed"] = true;
  for (std::size_t i = 0; i < handover.devices.size(); ++i) {
    const auto& device = handover.devices[i];
    object["devices"].push_back({{"platform", device.platform},
                                 {"name", device.name},
                                 {"type", device.type},
                                 {"memory", device.memory},
                                 {"id", device.id},
                                 {"same_as", handover.hardware[i]}});
  }
  for (const HandedTenant& tenant : handover.tenants) object["tenants"].push_back(to_json(tenant));
  for (const HandedSession& session : handover.sessions) object["sessions"].push_back(to_json(session));
  for (const Kill& kill : handover.kills) object["kills"].push_back(to_json(kill));
  return json_text(object);
}

Result<Handover> parse_handover(std::string_view text) {
  JsonFields fields(text, "handover");
  if (fields.ok()) fields.integer("handover", kVersion, kVersion);
  Handover handover;
  handover.listener = descriptor(fields, "listener");
  if (fields.has("listener_is_borrowed"))
    handover.listener_is_borrowed = fields.boolean("listener_is_borrowed");
  handover.lock = descriptor(fields, "lock");
  handover.last_session = fields.integer32("last_session");
  if (fields.has("restarts")) {
    handover.restarts = number(fields, "restarts");
    handover.served_s = fields.number("served_s");
  }
  for (json& each : fields.list("devices", session::kMaxDevices)) {
    auto device = JsonFields::nested(std::move(each), "device");
    handover.devices.push_back({device.string("platform", kLongestText), device.string("name", kLongestText),
                                device.integer("type"), device.integer("memory"),
                                device.has("id") ? device.string("id", kLongestText) : std::string()});
    const auto own = static_cast<std::uint32_t>(handover.hardware.size());
    const std::uint32_t same = device.has("same_as") ? device.integer32("same_as") : own;
    if (same > own || (same < own && handover.hardware[same] != same)) device.fail("is the same as none");
    handover.hardware.push_back(same);
    if (!device.ok()) fields.fail("has a device that cannot be read");
  }
  for (json& each : fields.list("tenants", kMostRecords)) {
    handover.tenants.push_back(tenant_from(JsonFields::nested(std::move(each), "tenant"), fields));
  }
  for (json& each : fields.list("sessions", kMostRecords)) {
    handover.sessions.push_back(session_from(JsonFields::nested(std::move(each), "session"), fields));
  }
  if (fields.has("kills")) {
    for (json& each : fields.list("kills", kMostRecords)) {
      handover.kills.push_back(kill_from(JsonFields::nested(std::move(each), "kill"), fields));
    }
  }
  if (!fields.ok()) return fields.error();
  return handover;
}

Result<UniqueFd> store(const Handover& handover) {
  auto file = memory_file(to_text(handover), kLeft);
  if (file && ::fcntl(file->get(), F_SETFD, 0) != 0) return system_error("cannot hand over a memory file");
  return file;
}

Result<Handover> take(UniqueFd file) {
  const auto text = read_memory_file(file.get(), std::numeric_limits<std::uint32_t>::max(), kLeft);
  if (!text) return text.error();
  return parse_handover(text.value());
}

bool keep_over_exec(const Handover& handover, bool keep) {
  const int flag = keep ? 0 : FD_CLOEXEC;
  bool all = ::fcntl(handover.listener, F_SETFD, flag) == 0 && ::fcntl(handover.lock, F_SETFD, flag) == 0;
  for (const HandedSession& session : handover.sessions) {
    for (const int fd :
         {session.client, session.channel, session.ledger, session.knock, session.turns, session.segment}) {
      all = ::fcntl(fd, F_SETFD, flag) == 0 && all;
    }
    for (const int fd : {session.messages, session.worker.group}) {
      if (fd >= 0) all = ::fcntl(fd, F_SETFD, flag) == 0 && all;
    }
  }
  return all;
}

}  // namespace fairgv::daemon
