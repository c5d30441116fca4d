#include "runtime/daemon/config.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "runtime/daemon/config_memory.hpp"
#include "runtime/daemon/config_services.hpp"
#include "runtime/daemon/config_table.hpp"
#include "runtime/daemon/user.hpp"
#include "runtime/session/core_set.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::daemon {
namespace {

constexpr double kLongestIdle = 31'536'000;  // a year, in seconds
constexpr double kShortestSlice = 0.1;       // milliseconds; below it switching costs more than it shares
constexpr double kLongestSlice = 1'000;
constexpr double kLongestHold = 1'000'000;  // seconds
// FairGV, section 3.2.1.
constexpr std::chrono::milliseconds kNonPreemptiveSlice{6};
constexpr std::chrono::milliseconds kPreemptiveSlice{30};
constexpr std::int64_t kMostConnections = 1'024;
constexpr std::int64_t kMostSamples = 1'000;
constexpr std::int64_t kLargestFloor = 1'000'000'000;  // work-groups
constexpr std::size_t kMostNeverSliced = 1'000;
constexpr std::size_t kLongestKernelName = 256;
constexpr std::int64_t kMostObjects = 1 << 22;  // that a worker's table holds
constexpr std::int64_t kMostCommands = 1 << 24;
constexpr std::uint64_t kLeastSharedMemory = std::uint64_t{64} << 20;
constexpr std::size_t kMostReadable = 64;
constexpr std::uint64_t kLeastWorkerMemory = std::uint64_t{64} << 20;  // a driver with its compiler
constexpr std::uint64_t kMostWorkerMemory = std::uint64_t{1} << 50;

std::optional<std::uint32_t> weight(ConfigTable& table, const char* key) {
  const auto value = table.integer(key, sched::kMinWeight, sched::kMaxWeight);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::uint32_t> count(ConfigTable& table, const char* key, std::int64_t most) {
  const auto value = table.integer(key, 1, most);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<gid_t> group(const toml::table& source, ConfigTable& table, const char* key,
                           ConfigErrors& errors) {
  const auto name = table.text(key);
  if (!name) return std::nullopt;
  const auto found = find_group(*name);
  if (!found) errors.add(source.get(key)->source(), "there is no group '" + *name + "' on this system");
  return found;
}

void read_daemon(const toml::table& source, Config& config, ConfigErrors& errors) {
  ConfigTable table(source, "[daemon]", errors);
  if (auto socket = table.text("socket")) config.socket = *socket;
  const std::vector<std::string> levels(std::begin(kLogLevels), std::end(kLogLevels));
  if (auto level = table.one_of("log_level", levels)) config.log_level = *level;
  if (auto idle = table.number("exit_idle_s", 0, kLongestIdle)) {
    config.exit_idle = std::chrono::duration<double>(*idle);
  }
  config.session_limit = count(table, "session_limit", kMostSessions).value_or(config.session_limit);
  config.user_session_limit =
      count(table, "user_session_limit", kMostSessions).value_or(config.user_session_limit);
  config.user_connection_limit =
      count(table, "user_connection_limit", kMostConnections).value_or(config.user_connection_limit);
  config.group = group(source, table, "group", errors);
  config.admin_group = group(source, table, "admin_group", errors);
  table.finish();
}

/// The keys that [device] and [device.N] share.
void read_device_rule(ConfigTable& table, DeviceRule& rule) {
  std::vector<std::string> policies;
  for (const sched::PolicyInfo& info : sched::all_policies()) policies.emplace_back(info.name);
  if (auto policy = table.one_of("policy", policies)) rule.policy = *policy;
  if (auto discipline = table.one_of("discipline", {"non-preemptive", "preemptive"})) {
    rule.slice = *discipline == "preemptive" ? kPreemptiveSlice : kNonPreemptiveSlice;
  }
  if (auto memory = table.memory("memory")) rule.memory = *memory;
  if (auto slice = table.number("slice_ms", kShortestSlice, kLongestSlice)) {
    rule.slice =
        std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double, std::milli>(*slice));
  }
  if (auto limit = table.number("hold_limit_s", 0, kLongestHold)) {
    rule.hold_limit = std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(*limit));
  }
}

/// The device that the N of [device.N] means; none if it is no number.
std::optional<std::uint32_t> device_index(std::string_view key) {
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index >= session::kMaxDevices) {
    return std::nullopt;
  }
  return index;
}

/// Some of the cores that the daemon may use, and not all of them.
void read_cores(const toml::table& source, ConfigTable& table, Config& config, ConfigErrors& errors) {
  const auto text = table.text("cores");
  if (!text) return;
  const auto wrong = [&](const std::string& what) {
    errors.add(source.get("cores")->source(), "cores in [device]: " + what);
  };
  const auto cores = session::parse_core_set(*text);
  if (!cores) return wrong(cores.error().message);
  const auto allowed = session::allowed_cores();
  if (!allowed) return wrong(allowed.error().message);
  const cpu_set_t beyond = session::other_cores(cores.value(), allowed.value());
  const cpu_set_t left = session::other_cores(allowed.value(), cores.value());
  if (CPU_COUNT(&beyond) != 0) return wrong("the daemon may not use all of '" + *text + "'");
  if (CPU_COUNT(&left) == 0) return wrong("'" + *text + "' leaves no core for anything else");
  config.device_cores = *text;
}

/// A name that OpenCL C can give to a function.
bool is_kernel_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongestKernelName && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), part);
}

void read_slicing(ConfigTable& table, SlicingRule& rule) {
  const std::vector<std::string> modes(std::begin(kSlicingModes), std::end(kSlicingModes));
  if (auto mode = table.one_of("slicing", modes)) rule.mode = *mode;
  if (auto floor = table.integer("slicing_floor", 1, kLargestFloor)) {
    rule.floor = static_cast<std::uint64_t>(*floor);
  }
  if (auto names = table.texts("never_slice", kMostNeverSliced, is_kernel_name, "names of kernels")) {
    rule.never = std::move(*names);
  }
}

void read_device(const toml::table& source, Config& config, ConfigErrors& errors) {
  ConfigTable table(source, "[device]", errors);
  read_device_rule(table, config.devices.common);
  if (auto samples = table.integer("samples", 1, kMostSamples)) {
    config.samples = static_cast<std::uint32_t>(*samples);
  }
  if (auto together = table.truth("coscheduling")) config.coscheduling = *together;
  read_slicing(table, config.slicing);
  read_cores(source, table, config, errors);
  for (const auto& [key, node] : source) {
    const auto index = device_index(key.str());
    if (!index) continue;
    const toml::table* const own = table.table(std::string(key.str()).c_str());
    if (own == nullptr) continue;
    ConfigTable own_table(*own, "[device." + std::string(key.str()) + "]", errors);
    DeviceRule& rule = config.devices.by_index[*index] = config.devices.common;
    read_device_rule(own_table, rule);
    own_table.finish();
  }
  table.finish();
}

void read_session(ConfigTable table, SessionRule& rule) {
  rule.objects = count(table, "objects", kMostObjects).value_or(rule.objects);
  rule.commands = count(table, "commands", kMostCommands).value_or(rule.commands);
  rule.shared_memory = table.bytes("shared_memory", kLeastSharedMemory, kMostSharedMemory);
  table.finish();
}

bool is_folder_name(std::string_view path) {
  return path.size() > 1 && path.starts_with('/');
}

void read_worker(const toml::table& source, WorkerRule& rule, ConfigErrors& errors) {
  ConfigTable table(source, "[worker]", errors);
  if (auto view = table.one_of("mount_view", {"private", "shared"})) rule.private_view = *view == "private";
  rule.syscall_filter = table.truth("syscall_filter").value_or(rule.syscall_filter);
  rule.core_dumps = table.truth("core_dumps").value_or(rule.core_dumps);
  rule.memory = table.bytes("memory", kLeastWorkerMemory, kMostWorkerMemory);
  if (auto paths = table.texts("readable", kMostReadable, is_folder_name, "absolute paths")) {
    rule.readable = std::move(*paths);
  }
  if (auto cache = table.text("cache")) {
    rule.cache = *cache;
    if (!is_folder_name(rule.cache)) {
      errors.add(source.get("cache")->source(), "cache in [worker] must be an absolute path");
    }
  }
  table.finish();
}

void read_cuda(ConfigTable table, Config& config) {
  config.cuda_library = table.text("library");
  table.finish();
}

void read_opencl(ConfigTable table, Config& config) {
  if (auto vendors = table.text("vendors")) config.vendors = *vendors;
  table.finish();
}

void read_tenants(const toml::table& source, TenantRules& rules, ConfigErrors& errors) {
  ConfigTable table(source, "[tenants]", errors);
  rules.max_weight = weight(table, "max_weight").value_or(rules.max_weight);
  rules.default_weight = weight(table, "default_weight").value_or(rules.default_weight);
  rules.default_memory = table.memory("default_memory").value_or(rules.default_memory);
  if (auto names = table.one_of("names", {"free", "own"})) rules.free_names = *names == "free";
  rules.session_limit = count(table, "session_limit", kMostSessions).value_or(rules.session_limit);
  table.finish();
  if (rules.default_weight > rules.max_weight) {
    errors.add(source.source(), "default_weight in [tenants] must not be larger than max_weight");
  }
}

TenantRule read_tenant(const toml::table& source, const std::string& name, ConfigErrors& errors) {
  ConfigTable table(source, "[tenant.\"" + name + "\"]", errors);
  TenantRule rule;
  rule.weight = weight(table, "weight");
  rule.max_weight = weight(table, "max_weight");
  rule.memory = table.memory("memory");
  rule.memory_reserve = table.memory("memory_reserve");
  rule.session_limit = count(table, "session_limit", kMostSessions);
  if (auto uid = table.integer("uid", 0, std::numeric_limits<uid_t>::max() - 1)) {
    rule.uid = static_cast<uid_t>(*uid);
  }
  if (auto user = table.text("user")) {
    if (rule.uid) errors.add(source.source(), "[tenant.\"" + name + "\"] has both uid and user: keep one");
    rule.uid = find_user(*user);
    if (!rule.uid)
      errors.add(source.get("user")->source(), "there is no user '" + *user + "' on this system");
  }
  table.finish();
  return rule;
}

void read_tenant_rules(const toml::table& tables, TenantRules& rules, ConfigErrors& errors) {
  for (const auto& [key, node] : tables) {
    const std::string name(key.str());
    if (!session::is_tenant_name(name)) {
      errors.add(key.source(), session::tenant_name_error(name, "the name in [tenant.\"...\"]").message);
    } else if (const toml::table* table = node.as_table(); table != nullptr) {
      rules.by_name[name] = read_tenant(*table, name, errors);
    } else {
      errors.add(node.source(), "tenant." + name + " must be a table: [tenant.\"" + name + "\"]");
    }
  }
}

}  // namespace

const DeviceRule& DeviceRules::of(std::uint32_t device) const {
  const auto found = by_index.find(device);
  return found == by_index.end() ? common : found->second;
}

const TenantRule& TenantRules::of(const std::string& name) const {
  static const TenantRule kNone;
  const auto found = by_name.find(name);
  return found == by_name.end() ? kNone : found->second;
}

Result<Config> parse_config(const std::string& text, const std::string& path) {
  ConfigErrors errors(path);
  toml::table document;
  try {
    document = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    errors.add(error.source(), std::string(error.description()));
    return *errors.first();
  }
  Config config;
  ConfigTable top(document, "the file", errors);
  if (const auto* table = top.table("daemon")) read_daemon(*table, config, errors);
  if (const auto* table = top.table("device")) read_device(*table, config, errors);
  if (const auto* table = top.table("session")) read_session({*table, "[session]", errors}, config.session);
  if (const auto* table = top.table("worker")) read_worker(*table, config.worker, errors);
  if (const auto* table = top.table("metrics")) read_metrics(*table, config.metrics, errors);
  if (const auto* table = top.table("usage")) read_usage(*table, config.usage, errors);
  if (const auto* table = top.table("opencl")) read_opencl({*table, "[opencl]", errors}, config);
  if (const auto* table = top.table("cuda")) read_cuda({*table, "[cuda]", errors}, config);
  if (const auto* table = top.table("tenants")) read_tenants(*table, config.tenants, errors);
  if (const auto* table = top.table("tenant")) read_tenant_rules(*table, config.tenants, errors);
  top.finish();
  check_memory(config, document.source(), errors);
  if (errors.first()) return *errors.first();
  return config;
}

Result<Config> read_config(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  // A folder opens, but cannot be read.
  if (!file || !(text << file.rdbuf())) {
    return system_error("cannot read the configuration " + path);
  }
  return parse_config(text.str(), path);
}

}  // namespace fairgv::daemon
