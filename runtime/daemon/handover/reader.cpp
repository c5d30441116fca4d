// Reads the text of the earlier daemon: fields that were added after that daemon may be missing in it.
#include <algorithm>
#include <limits>

#include "runtime/base/json_fields.hpp"
#include "runtime/control/pause_json.hpp"
#include "runtime/daemon/handover/handover.hpp"
#include "runtime/session/long_command_json.hpp"

namespace fairgv::daemon {
namespace {

using nlohmann::json;

constexpr std::size_t kMostHanded = 1'000'000;

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

/// A moment that may be before the machine's start, of a budget: within 292 years of it.
std::optional<std::int64_t> signed_number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

/// A budget that cannot be read is an empty one: promises begin anew.
sched::TenantBudget budget_from(const json& object) {
  const auto moment = [&object](const char* key) -> std::optional<sched::Time> {
    const auto number = signed_number(object, key);
    if (!number) return std::nullopt;
    return sched::Time(std::chrono::nanoseconds(*number));
  };
  sched::TenantBudget budget;
  if (const auto ahead = signed_number(object, "ahead")) budget.ahead = std::chrono::nanoseconds(*ahead);
  budget.guaranteed_until = moment("guaranteed_until");
  budget.paced_until = moment("paced_until");
  const auto left = signed_number(object, "reserve_left");
  const auto replenished = moment("replenished");
  if (left && replenished) budget.reserve = {std::chrono::nanoseconds(*left), *replenished};
  const auto list = object.find("last_second");
  if (list == object.end() || !list->is_array()) return budget;
  for (const json& each : *list) {
    if (!each.is_array() || each.size() != 3 || !each[0].is_number_integer() ||
        !each[1].is_number_integer() || !each[2].is_number_integer()) {
      continue;
    }
    const auto part = [&each](std::size_t index) {
      return std::chrono::nanoseconds(each[index].get<std::int64_t>());
    };
    budget.last_second.push_back({sched::Time(part(0)), sched::Time(part(1)), part(2)});
  }
  return budget;
}

/// The weight has a field of its own, which came first.
session::TenantWish wish_from(JsonFields& fields, const char* weight, const char* promises) {
  session::TenantWish wish;
  if (fields.has(promises)) {
    auto object = JsonFields::nested(fields.object(promises), promises);
    wish = session::read_tenant_wish(object);
    if (!object.ok()) fields.fail("has promises that cannot be read");
  }
  if (fields.has(weight)) wish.weight = fields.integer32(weight, session::kMinWeight, session::kMaxWeight);
  return wish;
}

TenantBooks books_from(JsonFields fields, JsonFields& whole) {
  TenantBooks books{.device_time = time(fields, "device_time"),
                    .outside = fields.has("outside") ? time(fields, "outside") : std::chrono::nanoseconds(0),
                    .ended = work_from(fields)};
  if (fields.has("waited")) books.waits = waits_from(fields);
  if (fields.has("budget")) books.budget = budget_from(fields.object("budget"));
  if (!fields.ok()) whole.fail("has a tenant's books that cannot be read");
  return books;
}

/// The parts of oversold devices that it has; an older daemon sold nothing.
std::vector<Holding> holdings_from(JsonFields& fields) {
  std::vector<Holding> holdings;
  if (!fields.has("holdings")) return holdings;
  for (json& each : fields.list("holdings", session::kMaxDevices)) {
    auto holding = JsonFields::nested(std::move(each), "holding");
    const auto share = [&holding](const char* key) {
      return sched::Share{
          static_cast<std::uint32_t>(holding.integer(key, 0, std::uint64_t{sched::Share::kWholePpm}))};
    };
    holdings.push_back({holding.integer32("device"), share("bought"), share("cap")});
    if (!holding.ok()) fields.fail("has a part of a device that cannot be read");
  }
  return holdings;
}

/// Totals that the first daemons did not hand over.
void read_totals(JsonFields& fields, HandedTenant& tenant) {
  if (!fields.has("counts")) return;
  auto counts = JsonFields::nested(fields.object("counts"), "counts");
  tenant.counts = {number(counts, "sessions"), number(counts, "crashes"), number(counts, "watchdog"),
                   number(counts, "violations")};
  if (!counts.ok()) fields.fail("has counts that cannot be read");
  // For daemons before devices were chosen it was the same on all.
  tenant.entitled.assign(session::kMaxDevices, time(fields, "entitled"));
  if (fields.has("entitled_by_device")) {
    tenant.entitled.clear();
    for (const std::uint64_t entitled : fields.integers("entitled_by_device", session::kMaxDevices))
      tenant.entitled.emplace_back(static_cast<std::int64_t>(entitled));
  }
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
  tenant.asked = wish_from(fields, "asked", "asked_promises");
  tenant.set = wish_from(fields, "set", "set_promises");
  if (fields.has("asked_memory")) tenant.asked_memory = fields.memory_size("asked_memory", "the memory");
  if (fields.has("set_memory")) tenant.set_memory = fields.memory_size("set_memory", "the memory");
  if (fields.has("class")) tenant.class_name = fields.string("class", session::kLongestTenantName);
  if (fields.has("assigned")) tenant.assigned = fields.boolean("assigned");
  if (fields.has("in_background")) tenant.in_background = fields.boolean("in_background");
  tenant.paused = control::pause_from(fields);
  if (fields.has("strikes")) {
    tenant.probation = Probation(fields.integer32("strikes"), Probation::Time(time(fields, "last_kill")));
  }
  for (json& books : fields.list("books", session::kMaxDevices)) {
    tenant.books.push_back(books_from(JsonFields::nested(std::move(books), "books"), whole));
  }
  read_totals(fields, tenant);
  tenant.holdings = holdings_from(fields);
  if (!fields.ok()) whole.fail("has a tenant that cannot be read: " + fields.error().message);
  return tenant;
}

/// The places of the session's devices among the host's. Before there were views, all workers saw the same
/// devices.
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
    held.interrupted = turn.has("interrupted") && turn.boolean("interrupted");
    if (turn.has("stopped")) held.stopped = sched::Time(time(turn, "stopped"));
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

std::optional<HandedPark> parked_from(JsonFields& fields) {
  if (!fields.has("parked")) return std::nullopt;
  auto its = JsonFields::nested(fields.object("parked"), "parked session");
  HandedPark parked{descriptor(its, "image"),
                    its.integer("bytes"),
                    its.integers("holdings", session::kMaxDevices),
                    {its.integer32("by"), its.boolean("administrator")}};
  if (its.has("drained")) parked.drained = its.integer32("drained");
  if (its.has("to_file")) parked.to_file = its.boolean("to_file");
  if (its.has("wakes")) parked.wakes = its.boolean("wakes");
  if (!its.ok()) fields.fail("has a parked session that cannot be read");
  return parked;
}

/// Descriptors of the worker, and of the objects that the daemon shares with the worker and its client.
void read_descriptors(JsonFields& fields, HandedSession& session) {
  session.parked = parked_from(fields);
  if (!session.parked) {
    session.worker.pid = static_cast<pid_t>(fields.integer32("worker"));
    session.channel = descriptor(fields, "channel");
    session.ledger = descriptor(fields, "ledger");
  }
  if (fields.has("sweeps")) session.worker.sweeps = fields.boolean("sweeps");
  if (fields.has("group")) {
    session.worker.group = descriptor(fields, "group");
    session.worker.group_path = fields.string("group_path", kLongestText);
  }
  if (fields.has("direct")) session.worker.program = descriptor(fields, "direct");
  if (fields.has("messages")) session.messages = descriptor(fields, "messages");
  if (fields.has("output_end")) session.output_end = descriptor(fields, "output_end");
  session.client = descriptor(fields, "client");
  session.knock = descriptor(fields, "knock");
  session.turns = descriptor(fields, "turns");
  session.segment = descriptor(fields, "segment");
}

/// Where its devices lie, by their places among its `devices`; an older daemon moved no sessions.
DeviceMap moved_from(JsonFields& fields, std::size_t devices) {
  DeviceMap::Pairs moved;
  if (fields.has("moved")) {
    for (json& each : fields.list("moved", session::kMaxDevices)) {
      auto pair = JsonFields::nested(std::move(each), "moved device");
      moved.emplace_back(pair.integer32("device"), pair.integer32("place"));
      if (!pair.ok() || moved.back().first >= devices || moved.back().second >= devices)
        fields.fail("has a moved device that cannot be read");
    }
  }
  return {std::move(moved), fields.has("visited") ? fields.integer("visited") : 0,
          fields.has("forced") ? fields.integer("forced") : 0};
}

std::vector<Evacuation> evacuated_from(JsonFields& fields, std::size_t devices) {
  std::vector<Evacuation> list;
  if (!fields.has("evacuated")) return list;
  for (json& element : fields.list("evacuated", session::kMaxDevices)) {
    auto each = JsonFields::nested(std::move(element), "evacuated device");
    list.push_back({each.integer32("device"), each.integer32("home"), each.integer32("place")});
    const Evacuation& last = list.back();
    if (!each.ok() || last.device >= devices || last.home >= devices || last.place >= devices)
      fields.fail("has an evacuated device that cannot be read");
  }
  return list;
}

/// The first daemons served OpenCL only.
session::Api api_from(JsonFields& fields) {
  if (!fields.has("api")) return session::Api::opencl;
  const auto api = session::parse_api(fields.string("api", kLongestText));
  if (fields.ok() && !api) fields.fail("has a session of an unknown API");
  return api.value_or(session::Api::opencl);
}

HandedSession session_from(JsonFields fields, JsonFields& whole) {
  HandedSession session;
  session.id = fields.integer32("id");
  session.tenant = fields.string("tenant", session::kLongestTenantName);
  session.peer = {static_cast<pid_t>(fields.integer32("pid")), fields.integer32("uid"),
                  fields.integer32("gid")};
  session.program = fields.string("program", kLongestText);
  session.features = fields.integer("features");
  // The client named this feature, but the daemon did not know it: the client does not expect it then.
  if (!fields.has("driver_messages")) session.features &= ~std::uint64_t{session::kDriverMessages};
  session.slicing = fields.string("slicing", kLongestText);
  session.api = api_from(fields);
  read_descriptors(fields, session);
  for (json& command : fields.list("long_commands", kMostHanded)) {
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
  if (fields.has("hidden")) session.hidden = fields.integer("hidden");
  session.moved = moved_from(fields, session.devices.size());
  if (fields.has("owes_answer")) session.owes_answer = fields.boolean("owes_answer");
  session.evacuated = evacuated_from(fields, session.devices.size());
  if (fields.has("passed_over")) {
    for (const json& each : fields.list("passed_over", session::kMaxDevices)) {
      if (each.is_string()) session.passed_over.push_back(each.get<std::string>());
    }
  }
  session.memory = fields.integers("memory", session::kMaxDevices);
  if (fields.has("holdings")) session.holdings = fields.integers("holdings", session::kMaxDevices);
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

Result<Handover> parse_handover(std::string_view text) {
  JsonFields fields(text, "handover");
  if (fields.ok()) fields.integer("handover", kHandoverVersion, kHandoverVersion);
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
                                device.has("id") ? device.string("id", kLongestText) : std::string(),
                                device.has("speed") ? device.integer("speed") : 0});
    const auto own = static_cast<std::uint32_t>(handover.hardware.size());
    const std::uint32_t same = device.has("same_as") ? device.integer32("same_as") : own;
    if (same > own || (same < own && handover.hardware[same] != same)) device.fail("is the same as none");
    handover.hardware.push_back(same);
    if (!device.ok()) fields.fail("has a device that cannot be read");
  }
  for (json& each : fields.list("tenants", kMostHanded)) {
    handover.tenants.push_back(tenant_from(JsonFields::nested(std::move(each), "tenant"), fields));
  }
  for (json& each : fields.list("sessions", kMostHanded)) {
    handover.sessions.push_back(session_from(JsonFields::nested(std::move(each), "session"), fields));
  }
  if (fields.has("kills")) {
    for (json& each : fields.list("kills", kMostHanded)) {
      handover.kills.push_back(kill_from(JsonFields::nested(std::move(each), "kill"), fields));
    }
  }
  if (fields.has("drained")) {
    for (const std::uint64_t device : fields.integers("drained", session::kMaxDevices)) {
      if (device >= handover.devices.size()) fields.fail("has a drained device that there is not");
      handover.drained.push_back(static_cast<std::uint32_t>(device));
    }
  }
  if (fields.has("failed")) {
    for (json& each : fields.list("failed", session::kMaxDevices)) {
      auto its = JsonFields::nested(std::move(each), "failed device");
      const std::uint32_t device = its.integer32("device");
      handover.failed[device] = its.string("reason", session::kLongestDeviceFailure);
      if (!its.ok() || device >= handover.devices.size())
        fields.fail("has a failed device that there is not");
    }
  }
  if (!fields.ok()) return fields.error();
  return handover;
}

}  // namespace fairgv::daemon
