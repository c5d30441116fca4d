// The report of `ps` as text.

#include "runtime/control/pause_json.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/control/report_session.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestList = 1'000'000;

json to_json(const Report::TimeGraphTask& task) {
  return {{"scheduling", task.scheduling}, {"enforcement", task.enforcement}, {"reserve", task.reserve},
          {"priority", task.priority},     {"shared", task.shared},           {"refused", task.refused},
          {"foreground", task.foreground}};
}

Report::TimeGraphTask task_from(JsonFields& whole) {
  auto fields = JsonFields::nested(whole.object("timegraph"), "timegraph");
  const auto text = [&fields](const char* key) {
    return printable(fields.string(key, kLongestText), kLongestText);
  };
  Report::TimeGraphTask task{text("scheduling"),
                             text("enforcement"),
                             text("reserve"),
                             text("priority"),
                             fields.boolean("shared"),
                             fields.boolean("refused"),
                             fields.boolean("foreground")};
  if (!fields.ok()) whole.fail("has a task of timegraph that cannot be read");
  return task;
}

json to_json(const Report::Kill& kill) {
  return {{"session", kill.session}, {"tenant", kill.tenant}, {"uid", kill.uid},    {"pid", kill.pid},
          {"program", kill.program}, {"reason", kill.reason}, {"ago_s", kill.ago_s}};
}

json to_json(const Report::Use::Holding& holding) {
  return {{"bought", holding.bought}, {"cap", holding.cap},     {"utilisation", holding.utilisation},
          {"target", holding.target}, {"level", holding.level}, {"broken_seconds", holding.broken_seconds}};
}

json to_json(const Report::Device::Oversold& oversold) {
  return {{"for_sale", oversold.for_sale},       {"load", oversold.load},
          {"overbooking", oversold.overbooking}, {"overloaded", oversold.overloaded},
          {"warning", oversold.warning},         {"warnings", oversold.warnings},
          {"changes", oversold.changes},         {"resting", oversold.resting}};
}

json to_json(const Report::Use& use) {
  return {{"device_time_ns", use.device_time_ns},
          {"outside_ns", use.outside_ns},
          {"entitled_ns", use.entitled_ns},
          {"entitled_share", use.entitled_share},
          {"share", use.share},
          {"queue", use.queue},
          {"interactive", use.interactive},
          {"held_back", use.held_back},
          {"waits", use.waits},
          {"waited_ns", use.waited_ns},
          {"wait_p50_ns", use.wait_p50_ns},
          {"wait_p99_ns", use.wait_p99_ns},
          {"commands", use.commands},
          {"launches", use.launches},
          {"slices", use.slices},
          {"bytes", use.bytes},
          {"samples", use.samples},
          {"syncs", use.syncs},
          {"memory_used", use.memory_used},
          {"memory_limit", use.memory_limit},
          {"memory_byte_s", use.memory_byte_s},
          {"memory_refusals", use.memory_refusals},
          {"units", use.units},
          {"holding", use.holding ? to_json(*use.holding) : json()}};
}

json to_json(const Report::Tenant& tenant) {
  json sessions = json::array();
  for (const Report::Session& session : tenant.sessions) sessions.push_back(to_json(session));
  json use = json::array();
  for (const Report::Use& each : tenant.use) use.push_back(to_json(each));
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
          {"by_events_ns", tenant.by_events_ns},
          {"memory_used", tenant.memory_used},
          {"memory_limit", tenant.memory_limit},
          {"memory_reserve", tenant.memory_reserve},
          {"use", std::move(use)},
          {"sessions_started", tenant.sessions_started},
          {"faults",
           {{"crashes", tenant.faults.crashes},
            {"watchdog", tenant.faults.watchdog},
            {"violations", tenant.faults.violations}}},
          {"paused", to_json(tenant.paused)},
          {"min", tenant.min},
          {"max", tenant.max},
          {"service", tenant.service},
          {"min_share", tenant.min_share},
          {"max_share", tenant.max_share},
          {"timegraph", tenant.timegraph ? to_json(*tenant.timegraph) : json()},
          {"host_weight", tenant.host_weight}};
}

Result<Report::Kill> kill_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "killed session");
  Report::Kill kill;
  kill.session = fields.integer32("session");
  kill.tenant = printable(fields.string("tenant", kLongestText), session::kLongestTenantName);
  kill.uid = fields.integer32("uid");
  kill.pid = fields.integer32("pid");
  kill.program = printable(fields.string("program", kLongestText), session::kLongestProgramName);
  kill.reason = printable(fields.string("reason", kLongestText), kLongestText);
  kill.ago_s = fields.number("ago_s");
  if (!fields.ok()) return fields.error();
  return kill;
}

Result<Report::Use> use_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "use");
  Report::Use use;
  use.device_time_ns = fields.integer("device_time_ns");
  if (fields.has("outside_ns")) use.outside_ns = fields.integer("outside_ns");
  use.entitled_ns = fields.integer("entitled_ns");
  if (fields.has("entitled_share")) use.entitled_share = fields.number("entitled_share");
  use.share = fields.number("share");
  use.queue = fields.integer32("queue");
  use.interactive = fields.integer32("interactive");
  if (fields.has("held_back")) use.held_back = fields.boolean("held_back");
  use.waits = fields.integer("waits");
  use.waited_ns = fields.integer("waited_ns");
  use.wait_p50_ns = fields.integer("wait_p50_ns");
  use.wait_p99_ns = fields.integer("wait_p99_ns");
  use.commands = fields.integer("commands");
  use.launches = fields.integer("launches");
  use.slices = fields.integer("slices");
  use.bytes = fields.integer("bytes");
  use.samples = fields.integer("samples");
  use.syncs = fields.integer("syncs");
  use.memory_used = fields.integer("memory_used");
  use.memory_limit = fields.integer("memory_limit");
  use.memory_byte_s = fields.number("memory_byte_s");
  use.memory_refusals = fields.integer("memory_refusals");
  if (fields.has("units")) use.units = fields.integer("units");  // not from an older daemon
  if (fields.has("holding")) {
    auto holding = JsonFields::nested(fields.object("holding"), "holding");
    use.holding = {holding.number("bought"), holding.number("cap"),   holding.number("utilisation"),
                   holding.number("target"), holding.number("level"), holding.integer("broken_seconds")};
    if (!holding.ok()) return holding.error();
  }
  if (!fields.ok()) return fields.error();
  return use;
}

Result<Report::Faults> faults_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "faults");
  Report::Faults faults{fields.integer("crashes"), fields.integer("watchdog"), fields.integer("violations")};
  if (!fields.ok()) return fields.error();
  return faults;
}

Result<Report::Tenant> tenant_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "tenant");
  Report::Tenant tenant;
  tenant.tenant = fields.string("tenant", session::kLongestTenantName);
  tenant.weight = fields.integer32("weight");
  tenant.uid = fields.integer32("uid");
  tenant.ideal_share = fields.number("ideal_share");
  tenant.commands = fields.integer("commands");
  tenant.launches = fields.integer("launches");
  tenant.samples = fields.integer("samples");
  tenant.syncs = fields.integer("syncs");
  if (fields.has("checked_ns")) {  // not from an older daemon
    tenant.checked_ns = fields.integer("checked_ns");
    tenant.by_events_ns = fields.integer("by_events_ns");
  }
  tenant.device_time_ns = fields.integers("device_time_ns", kLongestList);
  if (fields.has("memory_used")) {  // not from an older daemon
    tenant.memory_used = fields.integers("memory_used", kLongestList);
    tenant.memory_limit = fields.integers("memory_limit", kLongestList);
    tenant.memory_reserve = fields.integers("memory_reserve", kLongestList);
  }
  for (const json& share : fields.list("share", kLongestList)) {
    tenant.share.push_back(share.is_number() ? share.get<double>() : 0);
  }
  for (json& element : fields.list("sessions", kLongestList)) {
    FAIRGV_TRY(session, session_report_from(std::move(element)));
    tenant.sessions.push_back(std::move(session).value());
  }
  if (fields.has("use")) {  // not from an older daemon
    for (json& element : fields.list("use", kLongestList)) {
      FAIRGV_TRY(use, use_from(std::move(element)));
      tenant.use.push_back(use.value());
    }
    tenant.sessions_started = fields.integer("sessions_started");
    FAIRGV_TRY(faults, faults_from(fields.object("faults")));
    tenant.faults = faults.value();
  }
  tenant.paused = pause_from(fields);
  if (fields.has("min_share")) {  // not from an older daemon
    tenant.min = printable(fields.string("min", kLongestText), kLongestText);
    tenant.max = printable(fields.string("max", kLongestText), kLongestText);
    tenant.service = printable(fields.string("service", kLongestText), kLongestText);
    tenant.min_share = fields.number("min_share");
    tenant.max_share = fields.number("max_share");
  }
  if (fields.has("timegraph")) tenant.timegraph = task_from(fields);
  if (fields.has("host_weight")) tenant.host_weight = fields.integer32("host_weight");
  if (!fields.ok()) return fields.error();
  return tenant;
}

Result<Report::Device> device_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "device");
  Report::Device device{fields.integer32("index"),
                        printable(fields.string("platform", kLongestText), kLongestText),
                        printable(fields.string("name", kLongestText), kLongestText),
                        {},
                        {},
                        0};
  if (fields.has("policy")) {
    device.policy = printable(fields.string("policy", kLongestText), kLongestPolicyName);
    device.slice_ms = fields.number("slice_ms");
  }
  if (fields.has("memory")) {
    device.memory = fields.integer("memory");
    device.memory_used = fields.integer("memory_used");
    device.memory_reserved = fields.integer("memory_reserved");
    if (fields.has("memory_there")) device.memory_there = fields.integer("memory_there");
  }
  if (fields.has("same_as")) device.same_as = fields.integer32("same_as");
  if (fields.has("oversold")) {
    auto oversold = JsonFields::nested(fields.object("oversold"), "oversold");
    device.oversold = {oversold.number("for_sale"),    oversold.number("load"),
                       oversold.number("overbooking"), oversold.integer32("overloaded"),
                       oversold.boolean("warning"),    oversold.integer("warnings"),
                       oversold.integer("changes"),    oversold.boolean("resting")};
    if (!oversold.ok()) return oversold.error();
  }
  if (fields.has("drained")) device.drained = fields.boolean("drained");
  if (fields.has("failed")) device.failed = printable(fields.string("failed", kLongestText), kLongestText);
  if (fields.has("holder")) device.holder = fields.string("holder", session::kLongestTenantName);
  if (!fields.ok()) return fields.error();
  return device;
}

Report::Daemon daemon_from(JsonFields fields) {
  Report::Daemon daemon{fields.integer32("pid"), fields.string("version", kLongestText),
                        fields.string("socket", kLongestText), fields.number("uptime_s"),
                        fields.number("slice_ms")};
  if (!fields.has("restarts")) return daemon;  // an older one
  daemon.restarts = fields.integer("restarts");
  daemon.serving_s = fields.number("serving_s");
  daemon.share_window_s = fields.number("share_window_s");
  daemon.wait_window_s = fields.number("wait_window_s");
  if (!fields.has("promise_limit_share")) return daemon;
  daemon.promised_share = fields.number("promised_share");
  daemon.promise_limit_share = fields.number("promise_limit_share");
  return daemon;
}

}  // namespace

std::string to_text(const Report& report) {
  json devices = json::array();
  for (const Report::Device& device : report.devices) {
    devices.push_back({{"index", device.index},
                       {"platform", device.platform},
                       {"name", device.name},
                       {"policy", device.policy},
                       {"slice_ms", device.slice_ms},
                       {"memory", device.memory},
                       {"memory_used", device.memory_used},
                       {"memory_reserved", device.memory_reserved},
                       {"memory_there", device.memory_there},
                       {"same_as", device.same_as ? json(*device.same_as) : json()},
                       {"oversold", device.oversold ? to_json(*device.oversold) : json()},
                       {"drained", device.drained},
                       {"failed", device.failed ? json(*device.failed) : json()},
                       {"holder", device.holder ? json(*device.holder) : json()}});
  }
  json tenants = json::array();
  for (const Report::Tenant& tenant : report.tenants) tenants.push_back(to_json(tenant));
  json kills = json::array();
  for (const Report::Kill& kill : report.kills) kills.push_back(to_json(kill));
  return json_text(json{{"ok", true},
                        {"daemon",
                         {{"pid", report.daemon.pid},
                          {"version", report.daemon.version},
                          {"socket", report.daemon.socket},
                          {"uptime_s", report.daemon.uptime_s},
                          {"slice_ms", report.daemon.slice_ms},
                          {"restarts", report.daemon.restarts},
                          {"serving_s", report.daemon.serving_s},
                          {"share_window_s", report.daemon.share_window_s},
                          {"wait_window_s", report.daemon.wait_window_s},
                          {"promised_share", report.daemon.promised_share},
                          {"promise_limit_share", report.daemon.promise_limit_share}}},
                        {"devices", std::move(devices)},
                        {"tenants", std::move(tenants)},
                        {"kills", std::move(kills)}});
}

Result<Report> parse_report(std::string_view text) {
  FAIRGV_CHECK(parse_outcome(text));
  JsonFields fields(text, "daemon's answer");
  Report report;
  report.daemon = daemon_from(JsonFields::nested(fields.object("daemon"), "daemon"));
  for (json& element : fields.list("devices", kLongestList)) {
    FAIRGV_TRY(device, device_from(std::move(element)));
    report.devices.push_back(std::move(device).value());
  }
  for (json& element : fields.list("tenants", kLongestList)) {
    FAIRGV_TRY(tenant, tenant_from(std::move(element)));
    report.tenants.push_back(std::move(tenant).value());
  }
  if (fields.has("kills")) {  // not from an older daemon
    for (json& element : fields.list("kills", kLongestList)) {
      FAIRGV_TRY(kill, kill_from(std::move(element)));
      report.kills.push_back(std::move(kill).value());
    }
  }
  if (!fields.ok()) return fields.error();
  return report;
}

}  // namespace fairgv::control
