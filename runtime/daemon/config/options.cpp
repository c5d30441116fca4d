#include "runtime/daemon/config/options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "runtime/base/core_set.hpp"
#include "runtime/daemon/config/tenant_template.hpp"
#include "runtime/daemon/config/values/metrics_address.hpp"
#include "runtime/daemon/service/user.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "sched/choice/device_profile.hpp"

namespace fairgv::daemon {
namespace {

using Seconds = std::chrono::seconds;

constexpr double kLongestIdle = 31'536'000;  // a year, in seconds
constexpr double kShortestSlice = 0.1;       // milliseconds; below it switching costs more than it shares
constexpr double kLongestSlice = 1'000;
constexpr double kLongestHold = 1'000'000;               // seconds
constexpr std::int64_t kLongestWakeLatency = 1'000'000;  // microseconds
constexpr double kShortestTimeout = 0.1;                 // seconds
constexpr double kLongestTimeout = 86'400;
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

constexpr double kMostTimesSold = 100;
constexpr double kLeastTarget = 0.01;  // units per second
constexpr double kMostTarget = 1e9;

constexpr double kShortestFlush = 0.1;  // seconds
constexpr double kLongestFlush = 3'600;
constexpr std::int64_t kLongestRetention = 36'500;  // days

constexpr std::uint64_t kLeastExpected = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostExpected = std::uint64_t{1} << 50;
constexpr std::uint64_t kLeastBandwidth = std::uint64_t{1} << 20;  // bytes per second
constexpr std::uint64_t kMostBandwidth = std::uint64_t{1} << 50;

constexpr IntegerType kWeights{sched::kMinWeight, sched::kMaxWeight};
constexpr IntegerType kSessions{1, kMostSessions};
constexpr IntegerType kIds{0, std::numeric_limits<uid_t>::max() - 1};

bool is_folder_name(std::string_view path) {
  return path.size() > 1 && path.starts_with('/');
}

/// A name that OpenCL C can give to a function.
bool is_kernel_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongestKernelName && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), part);
}

std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const sched::PolicyInfo& info : sched::all_policies()) names.emplace_back(info.name);
  return names;
}

/// A group by its name, which shows it, too.
OptionAccess<Config> group_field(std::optional<gid_t> Config::*member) {
  return {[member](Config& config, const OptionValue& value) -> std::string {
            const auto& name = std::get<std::string>(value);
            config.*member = find_group(name);
            return config.*member ? "" : "there is no group '" + name + "' on this system";
          },
          [member](const Config& config) -> std::optional<OptionValue> {
            if (!(config.*member)) return std::nullopt;
            return OptionValue(group_name(*(config.*member)));
          }};
}

/// A user or group by name, beside the option that has the number and shows both.
template <class Rule, class Id>
OptionAccess<Rule> name_field(std::optional<Id> Rule::*member, std::optional<Id> (*find)(const std::string&),
                              const char* kind, const char* other) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto& name = std::get<std::string>(value);
            if (rule.*member) return std::string("there is a ") + other + ", too: keep one";
            rule.*member = find(name);
            return rule.*member ? "" : std::string("there is no ") + kind + " '" + name + "' on this system";
          },
          [](const Rule&) { return std::nullopt; }};
}

constexpr std::array<std::pair<const char*, sched::SliceRule>, 3> kDisciplines{
    {{"adaptive", sched::kAdaptiveSlice},
     {"non-preemptive", sched::kNonPreemptiveSlice},
     {"preemptive", sched::kPreemptiveSlice}}};

std::vector<std::string> disciplines() {
  std::vector<std::string> names;
  for (const auto& [name, slices] : kDisciplines) names.emplace_back(name);
  return names;
}

/// Sets the slices, and shows those that are not constant: `slice_ms` shows the others.
OptionAccess<DeviceRule> discipline_field() {
  return {[](DeviceRule& rule, const OptionValue& value) {
            for (const auto& [name, slices] : kDisciplines) {
              if (std::get<std::string>(value) == name) rule.slices = slices;
            }
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            for (const auto& [name, slices] : kDisciplines) {
              if (rule.slices == slices && !slices.is_constant()) return OptionValue(std::string(name));
            }
            return std::nullopt;
          }};
}

std::vector<std::string> samplings() {
  std::vector<std::string> names;
  for (const auto& [name, sampling] : sched::kSamplings) names.emplace_back(name);
  return names;
}

OptionAccess<DeviceRule> sampling_field() {
  return {[](DeviceRule& rule, const OptionValue& value) {
            for (const auto& [name, sampling] : sched::kSamplings) {
              if (std::get<std::string>(value) == name) rule.sampling = sampling;
            }
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            for (const auto& [name, sampling] : sched::kSamplings) {
              if (rule.sampling == sampling) return OptionValue(std::string(name));
            }
            return std::nullopt;
          }};
}

OptionAccess<DeviceRule> slice_field() {
  using Fraction = std::chrono::duration<double, std::milli>;
  return {[](DeviceRule& rule, const OptionValue& value) {
            const Fraction slice(std::get<double>(value));
            rule.slices = sched::SliceRule::constant(std::chrono::round<sched::Duration>(slice));
            return std::string();
          },
          [](const DeviceRule& rule) -> std::optional<OptionValue> {
            if (!rule.slices.is_constant()) return std::nullopt;
            return OptionValue(Fraction(rule.slices.least).count());
          }};
}

/// A part of a tenant's entitlement, in the text that people write (session/wish/tenant_wish.hpp).
template <class Rule, class T>
OptionAccess<Rule> wish_field(std::optional<T> Rule::*member,
                              Result<T> (*parse)(const std::string&, const std::string&)) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto parsed = parse(std::get<std::string>(value), "it");
            if (!parsed) return parsed.error().message;
            rule.*member = parsed.value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            if (!(rule.*member)) return std::nullopt;
            return OptionValue(session::to_text(*(rule.*member)));
          }};
}

/// A part of a device as text, "20%" or "none"; from the least to the most that the option allows.
template <class Rule>
OptionAccess<Rule> share_field(sched::Share Rule::*member) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto& text = std::get<std::string>(value);
            const auto share =
                text == "none" ? Result<sched::Share>(sched::Share{}) : session::parse_max(text, "it");
            if (!share) return "it is '" + text + "': a part of the device is none or 0.1% to 100%, as 50%";
            rule.*member = share.value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            const sched::Share share = rule.*member;
            return OptionValue(share.ppm == 0 ? std::string("none") : session::to_text(share));
          }};
}

/// Devices that programs may use, as text.
template <class Rule>
OptionAccess<Rule> devices_field(std::optional<DevicesWanted> Rule::*member) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto wanted = parse_devices_wanted(std::get<std::string>(value));
            if (!wanted) return wanted.error().message;
            rule.*member = wanted.value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            if (!(rule.*member)) return std::nullopt;
            return OptionValue(to_text(*(rule.*member)));
          }};
}

OptionAccess<TenantRules> devices_field(DevicesWanted TenantRules::*member) {
  return {[=](TenantRules& rules, const OptionValue& value) -> std::string {
            const auto wanted = parse_devices_wanted(std::get<std::string>(value));
            if (!wanted) return wanted.error().message;
            rules.*member = wanted.value();
            return "";
          },
          [=](const TenantRules& rules) { return OptionValue(to_text(rules.*member)); }};
}

bool is_service_name(std::string_view name) {
  return name == "normal" || name == "latency" || name == "batch";
}

/// A field of what workers are told: a row with it needs no other line for its way there.
template <class T>
OptionAccess<Config> tuning(T session::WorkerTuning::*member) {
  return within(&Config::tuning, field(member));
}

/// Some of the cores that the daemon may use, and not all of them.
std::string set_cores(Config& config, const OptionValue& value) {
  const auto& text = std::get<std::string>(value);
  const auto cores = parse_core_set(text);
  if (!cores) return cores.error().message;
  const auto allowed = allowed_cores();
  if (!allowed) return allowed.error().message;
  const cpu_set_t beyond = other_cores(cores.value(), allowed.value());
  const cpu_set_t left = other_cores(allowed.value(), cores.value());
  if (CPU_COUNT(&beyond) != 0) return "the daemon may not use all of '" + text + "'";
  if (CPU_COUNT(&left) == 0) return "'" + text + "' leaves no core for anything else";
  config.tuning.device_cores = text;
  return "";
}

bool is_cgroup_pattern(std::string_view pattern) {
  return pattern.starts_with('/');
}

ConfigOptions<Config> daemon_options() {
  const std::vector<std::string> levels(std::begin(kLogLevels), std::end(kLogLevels));
  return {
      {{"socket", TextType{}, "", Applies::restart,
        "`/run/fairgv/fairgvd.sock` of root's daemon, else `$XDG_RUNTIME_DIR/fairgv/fairgvd.sock`, else "
        "`/tmp/fairgv-UID/fairgvd.sock`",
        "The path of the socket where it listens. `--socket` goes before it."},
       field(&Config::socket)},
      {{"log_level", ChoiceType{levels}, "", Applies::at_once, "",
        "What it says in its log: this and what is more urgent. `--log-level` goes before it."},
       field(&Config::log_level)},
      {{"exit_idle_s", NumberType{0, kLongestIdle}, "seconds", Applies::at_once, "",
        "End after so long without any connection; 0: never. `--exit-idle` goes before it."},
       time_field<Seconds>(&Config::exit_idle)},
      {{"session_limit", kSessions, "", Applies::new_programs, "",
        "Programs at a time, of all users together."},
       field(&Config::session_limit)},
      {{"user_session_limit", kSessions, "", Applies::new_programs, "",
        "Programs at a time of each user but root and the daemon's own."},
       field(&Config::user_session_limit)},
      {{"user_connection_limit", IntegerType{1, std::int64_t{kMostConnections}}, "", Applies::new_programs,
        "", "Connections at a time that are no programs' sessions, of each such user."},
       field(&Config::user_connection_limit)},
      {{"kept_sessions", IntegerType{0, kMostSessions}, "", Applies::new_programs,
        "a sixteenth of `session_limit`",
        "Of `session_limit`, places that only root, the daemon's own user and `admin_group` can take."},
       field(&Config::kept_sessions)},
      {{"hello_timeout_s", NumberType{kShortestTimeout, kLongestTimeout}, "seconds", Applies::at_once, "",
        "Hang up on a connection that does not say within this time what it is for."},
       time_field<Seconds>(&Config::hello_timeout)},
      {{"idle_timeout_s", NumberType{0, kLongestTimeout}, "seconds", Applies::at_once, "",
        "Hang up on a user's connection of `fairgv` that has asked for nothing for so long; 0: never (see "
        "Limits)."},
       time_field<Seconds>(&Config::idle_timeout)},
      {{"group", TextType{}, "", Applies::at_once, "root's daemon serves everybody, another its own user",
        "The group whose members may connect, and nobody else but root."},
       group_field(&Config::group)},
      {{"admin_group", TextType{}, "", Applies::at_once, "root and the daemon's own user only",
        "The group whose members may do by `fairgv` what root may. They must be able to connect, too."},
       group_field(&Config::admin_group)},
  };
}

/// Those of [device] and [device.N].
const ConfigOptions<DeviceRule>& common_device_options() {
  static const ConfigOptions<DeviceRule> kOptions{
      {{"policy", ChoiceType{policies()}, "", Applies::at_once, "",
        "Who gets the device next while several want it (see The policy)."},
       field(&DeviceRule::policy)},
      {{"discipline", ChoiceType{disciplines()}, "", Applies::at_once, "",
        "How long a turn is while several want the device. `adaptive`: 15 ms while they are few, down to 1.5 "
        "ms with many; `non-preemptive`: 6 ms, for devices that cannot interrupt kernels; `preemptive`: 30 "
        "ms, for those that can (see The slice)."},
       discipline_field()},
      {{"slice_ms", NumberType{kShortestSlice, kLongestSlice}, "milliseconds", Applies::at_once,
        "as `discipline` says",
        "The length of a turn, however many want the device. Goes before `discipline`."},
       slice_field()},
      {{"sampling", ChoiceType{samplings()}, "", Applies::at_once, "",
        "Which commands are measured one by one, each alone on the device. `history`: those of kinds that "
        "are "
        "not known yet; `per-turn`: the first five of each measured turn, as FairGV publishes it for "
        "`fair-paper`; `always`: every command, in lone turns, too, to see what that costs. Turns by the "
        "clock "
        "measure nothing, whatever this says but `always`."},
       sampling_field()},
      {{"memory", DeviceMemoryType{}, "", Applies::at_once, "all that the device has",
        "What the device shares out (see Memory)."},
       field(&DeviceRule::memory)},
      {{"hold_limit_s", NumberType{0, kLongestHold}, "seconds", Applies::at_once, "",
        "Kill the worker of whoever holds the device in one turn for so long while others wait; 0: never "
        "(see The "
        "watchdog)."},
       time_field<Seconds>(&DeviceRule::hold_limit)},
      {{"interrupts", TruthType{}, "", Applies::at_once, "",
        "On a CPU device: stop the worker that has the turn while a tenant runs that needs the device for a "
        "moment, or is of class latency (see Interruptions)."},
       field(&DeviceRule::interrupts)},
      {{"wake_latency_us", IntegerType{0, kLongestWakeLatency}, "microseconds", Applies::at_once,
        "as long as the system likes",
        "How long a processor may take to wake up while several want the device (see Waking up)."},
       field(&DeviceRule::wake_latency_us)},
      {{"oversell", TruthType{}, "", Applies::at_once, "",
        "Sell the device's time by `max`, and more of it than there is as far as tenants leave unused what "
        "they bought. With the policy `cap` only (see Overselling)."},
       field(&DeviceRule::oversell)},
      {{"oversell_limit", TextType{}, "", Applies::at_once, "",
        "The most of the device that its tenants' use, as of late, and a newcomer's part may come to "
        "together."},
       share_field(&DeviceRule::oversell_limit)},
      {{"oversell_ratio", NumberType{1, kMostTimesSold}, "times", Applies::at_once,
        "by what tenants use and need",
        "Instead of looking at what tenants use: sell the device so many times. Each tenant's cap is what it "
        "bought, divided by this."},
       field(&DeviceRule::oversell_ratio)},
  };
  return kOptions;
}

ConfigOptions<Config> all_device_options() {
  ConfigOptions<Config> rows;
  for (const ConfigOption<DeviceRule>& row : common_device_options()) {
    rows.push_back({row.facts, within(&Config::devices, within(&DeviceRules::common, row.access))});
  }
  const std::vector<std::string> modes(std::begin(kSlicingModes), std::end(kSlicingModes));
  const ConfigOptions<Config> more{
      {{"samples", IntegerType{1, kMostSamples}, "", Applies::new_programs, "",
        "How often a kernel is measured by itself until its time is known."},
       tuning(&session::WorkerTuning::samples)},
      {{"cores", TextType{}, "", Applies::new_programs, "every core that the daemon may use",
        "Where the threads of a CPU device run, as in `taskset -c`: \"0-3,8\"; everything else of FairGV's "
        "runs "
        "elsewhere (see Cores)."},
       {set_cores, tuning(&session::WorkerTuning::device_cores).get}},
      {{"core_per_thread", TruthType{}, "", Applies::new_programs, "",
        "Keep each thread of a CPU device on a core of its own (see Cores)."},
       tuning(&session::WorkerTuning::core_per_thread)},
      {{"coscheduling", TruthType{}, "", Applies::new_programs, "",
        "Wake interactive programs with their turns, on a device with cores of its own (see Interactive "
        "programs)."},
       tuning(&session::WorkerTuning::coscheduling)},
      {{"slicing", ChoiceType{modes}, "", Applies::new_programs, "",
        "How launches that outlast a slice are cut (see Slicing)."},
       tuning(&session::WorkerTuning::slicing)},
      {{"slicing_floor", IntegerType{1, kLargestFloor}, "work-groups", Applies::at_once, "",
        "The smallest part of a launch that is cut."},
       tuning(&session::WorkerTuning::slicing_floor)},
      {{"never_slice", ListType{kMostNeverSliced, is_kernel_name, "names of kernels"}, "",
        Applies::new_programs, "none", "Kernels that always run whole (see Slicing)."},
       tuning(&session::WorkerTuning::never_slice)},
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

ConfigOptions<Config> session_options() {
  const auto in = [](auto member) { return within(&Config::session, field(member)); };
  return {
      {{"objects", IntegerType{1, kMostObjects}, "", Applies::new_programs, "", "OpenCL objects."},
       tuning(&session::WorkerTuning::objects)},
      {{"commands", IntegerType{1, kMostCommands}, "", Applies::new_programs, "",
        "Commands that wait for something only the program itself can do."},
       tuning(&session::WorkerTuning::commands)},
      {{"shared_memory", BytesType{kLeastSharedMemory, kMostSharedMemory}, "", Applies::new_programs,
        "the machine's memory, at most 64 GiB", "The memory that the program and its worker share."},
       in(&SessionRule::shared_memory)},
      {{"driver_messages", TruthType{}, "", Applies::new_programs, "",
        "Print on the program's standard error what its driver says on its own: warnings, remarks on builds. "
        "They are in the daemon's log either way. `FAIRGV_DRIVER_MESSAGES=off` goes before it."},
       in(&SessionRule::driver_messages)},
  };
}

ConfigOptions<Config> worker_options() {
  const auto in = [](auto member) { return within(&Config::worker, field(member)); };
  return {
      {{"mount_view", ChoiceType{{"private", "shared"}}, "", Applies::new_programs, "",
        "What workers see of the file system: what drivers need, or what their users see."},
       within(&Config::worker, words_field(&WorkerRule::private_view, "private", "shared"))},
      {{"syscall_filter", TruthType{}, "", Applies::new_programs, "",
        "Refuse system calls that no driver needs."},
       in(&WorkerRule::syscall_filter)},
      {{"core_dumps", TruthType{}, "", Applies::new_programs, "", "Write core files of workers that crash."},
       in(&WorkerRule::core_dumps)},
      {{"memory", BytesType{kLeastWorkerMemory, kMostWorkerMemory}, "", Applies::new_programs, "no limit",
        "Private memory of a worker."},
       in(&WorkerRule::memory)},
      {{"readable", ListType{kMostReadable, is_folder_name, "absolute paths"}, "", Applies::new_programs,
        "none", "More folders that workers see."},
       in(&WorkerRule::readable)},
      {{"cache", TextType{"an absolute path", is_folder_name}, "", Applies::new_programs,
        "`/var/cache/fairgv` of root's daemon, else `~/.cache/fairgv`",
        "Where drivers in workers keep what they compile, in a folder for each user."},
       in(&WorkerRule::cache)},
  };
}

ConfigOptions<Config> tenants_options() {
  const auto in = [](auto member) { return within(&Config::tenants, field(member)); };
  return {
      {{"max_weight", kWeights, "", Applies::at_once, "", "The most that programs may ask for."},
       in(&TenantRules::max_weight)},
      {{"default_weight", kWeights, "", Applies::at_once, "",
        "Of a tenant whose programs ask for none. Not more than `max_weight`."},
       in(&TenantRules::default_weight)},
      {{"allow_min", TextType{}, "", Applies::new_programs, "",
        "The largest guarantee that programs may ask for, as \"20%\"; administrators may ask for more (see "
        "Promises)."},
       within(&Config::tenants, share_field(&TenantRules::allow_min))},
      {{"allow_class", ListType{3, is_service_name, "normal, latency or batch"}, "", Applies::new_programs,
        "", "The classes of service that programs may ask for; administrators may ask for any."},
       in(&TenantRules::allow_service)},
      {{"promise_limit", TextType{}, "", Applies::new_programs, "",
        "The most of each device that may be promised: all guarantees together, and the floor of the batch "
        "class."},
       within(&Config::tenants, share_field(&TenantRules::promise_limit))},
      {{"overbooked", ChoiceType{{"refuse", "background"}}, "", Applies::new_programs, "",
        "What becomes of a program whose guarantee does not fit any more: it is refused, or its tenant has "
        "no "
        "guarantee and is of the batch class."},
       within(&Config::tenants, words_field(&TenantRules::refuse_overbooked, "refuse", "background"))},
      {{"default_memory", DeviceMemoryType{}, "", Applies::at_once, "",
        "The most memory of each device that a tenant may hold of which nothing else is said."},
       in(&TenantRules::default_memory)},
      {{"devices", TextType{}, "", Applies::new_programs, "",
        "The devices that programs may use: \"all\" that their workers see; \"best\", of each platform the "
        "one where the tenant's share is largest; some by their numbers in `fairgv ps`, \"0,2-3\"; or "
        "\"best:0,2-3\", the best of these (see Several devices)."},
       within(&Config::tenants, devices_field(&TenantRules::devices))},
      {{"names", ChoiceType{{"free", "own"}}, "", Applies::new_programs, "",
        "Which names programs may ask for: any that is free, or their user's and those that are reserved for "
        "it "
        "(see Names)."},
       within(&Config::tenants, words_field(&TenantRules::free_names, "free", "own"))},
      {{"subordinate_ids", ChoiceType{{"owner", "own"}}, "", Applies::new_programs, "",
        "For whom subordinate user ids (`/etc/subuid`, rootless containers) count in names, limits and "
        "usage: "
        "the user who has them, or each for itself (see Subordinate ids)."},
       within(&Config::tenants, words_field(&TenantRules::subordinate_to_owner, "owner", "own"))},
      {{"session_limit", kSessions, "", Applies::new_programs, "", "Programs at a time of each tenant."},
       in(&TenantRules::session_limit)},
  };
}

ConfigOptions<Config> opencl_options() {
  return {
      {{"vendors", TextType{"an absolute path", is_folder_name}, "", Applies::new_programs, "",
        "The folder with their `*.icd` files."},
       field(&Config::vendors)},
      {{"names", ChoiceType{{"fairgv", "driver"}}, "", Applies::new_programs, "",
        "Whose names programs see: `FairGV on` the driver's platform, by the vendor `FairGV`, or the "
        "driver's "
        "own, for programs that choose what they do by them. `FAIRGV_OPENCL_NAMES` in a program's "
        "environment "
        "goes before it."},
       words_field(&Config::driver_names, "driver", "fairgv")},
  };
}

ConfigOptions<Config> cuda_options() {
  return {
      {{"library", TextType{"an absolute path", is_folder_name}, "", Applies::new_programs,
        "NVIDIA's where the system keeps it, else FairGV's own software driver",
        "The CUDA driver of the workers, a `libcuda.so.1`."},
       field(&Config::cuda_library)},
  };
}

/// The place must be one that metrics may be told at.
std::string set_metrics_place(MetricsRule& rule, const OptionValue& value) {
  rule.listen = std::get<std::string>(value);
  const auto address = parse_metrics_address(rule.listen);
  return address ? "" : address.error().message;
}

ConfigOptions<Config> metrics_options() {
  const auto listen = field(&MetricsRule::listen);
  return {
      {{"listen", TextType{}, "", Applies::at_once, "nowhere",
        "Where metrics are told: `127.0.0.1:9477`, `[::1]:9477` or `unix:/path`. The loopback only."},
       within(&Config::metrics, {set_metrics_place, listen.get})},
  };
}

bool is_file_name(std::string_view path) {
  return is_folder_name(path) && !path.ends_with('/');
}

ConfigOptions<Config> usage_options() {
  const auto in = [](auto access) { return within(&Config::usage, access); };
  return {
      {{"store", TextType{"the absolute path of a file", is_file_name}, "", Applies::at_once,
        "nothing is kept", "The file in which it is kept."},
       in(field(&UsageRule::store))},
      {{"flush_s", NumberType{kShortestFlush, kLongestFlush}, "seconds", Applies::at_once, "",
        "How often it is written: a crash loses no more."},
       in(time_field<Seconds>(&UsageRule::flush))},
      {{"retention_days", IntegerType{1, kLongestRetention}, "days", Applies::at_once, "",
        "How long it is kept."},
       in(field(&UsageRule::retention_days))},
  };
}

ConfigOptions<Config> timegraph_options() {
  const auto in = [](auto access) {
    return within(&Config::tenants, within(&TenantRules::timegraph, access));
  };
  return {
      {{"spec", TextType{"the path of a file"}, "", Applies::at_once,
        "tenants without `min` have the Background reserve, and all have the lowest priority",
        "The specification file: the priorities and reserves of tenants (see TimeGraph). It is read whenever "
        "the configuration is. A path that does not begin with / goes from the folder of the file that names "
        "it."},
       in(field(&TimeGraphRules::spec))},
      {{"limit", TextType{}, "", Applies::at_once, "",
        "The most of each device that the reserves of running tenants may have together, as \"80%\". For a "
        "reserve that does not fit, `overbooked` in [tenants] says what becomes of the program: it is "
        "refused, or its tenant has the Background reserve and the lowest priority."},
       in(share_field(&TimeGraphRules::limit))},
  };
}

}  // namespace

const std::vector<SingleSection>& single_sections() {
  static const std::vector<SingleSection> kSections{
      {"daemon", "The daemon itself.", daemon_options()},
      {kDeviceSection, "How devices are shared.", all_device_options()},
      {"session", "What one program may have at a time (see Limits).", session_options()},
      {"worker", "How the workers are confined (see Workers).", worker_options()},
      {"opencl", "The drivers to share.", opencl_options()},
      {"cuda", "The driver under programs of CUDA.", cuda_options()},
      {"metrics", "What Prometheus is told (see Metrics).", metrics_options()},
      {"usage", "What is kept of what tenants have used (see The usage store).", usage_options()},
      {"tenants", "All tenants.", tenants_options()},
      {"timegraph", "Priorities and reserves on devices with `policy = \"timegraph\"` (see TimeGraph).",
       timegraph_options()},
  };
  return kSections;
}

const ConfigOptions<DeviceRule>& device_options() {
  static const ConfigOptions<DeviceRule> kOptions = [] {
    ConfigOptions<DeviceRule> rows = common_device_options();
    rows.push_back(
        {{"same_as", IntegerType{0, session::kMaxDevices - 1}, "", Applies::restart,
          "as FairGV finds out: CPU devices are the same processors",
          "The device of `fairgv ps`, one before this, that is the same hardware under another driver: both "
          "are shared as one, by its rules. Its own number: it is hardware of its own (see Several "
          "drivers)."},
         field(&DeviceRule::same_as)});
    rows.push_back({{"speed", IntegerType{1, sched::DeviceProfile::kMostSpeed}, "", Applies::new_programs,
                     "compute units times their clock in MHz, as the driver says",
                     "How fast the device is beside the others of its platform, where the daemon chooses "
                     "among them (see "
                     "Several devices)."},
                    field(&DeviceRule::speed)});
    rows.push_back(
        {{"bandwidth", BytesType{kLeastBandwidth, kMostBandwidth}, "bytes per second", Applies::new_programs,
          "unknown",
          "Between host and device, both ways: of devices that are worth the same to a tenant the one "
          "with more is chosen."},
         field(&DeviceRule::bandwidth)});
    return rows;
  }();
  return kOptions;
}

const ConfigOptions<TenantRule>& class_options() {
  static const ConfigOptions<TenantRule> kOptions{
      {{"weight", kWeights, "", Applies::at_once, "what its programs ask for, or `default_weight`",
        "The tenant's weight: what its programs ask for is ignored."},
       field(&TenantRule::weight)},
      {{"max_weight", kWeights, "", Applies::at_once, "as in [tenants]",
        "The most that its programs may ask for. Not more than in [tenants]."},
       field(&TenantRule::max_weight)},
      {{"min", TextType{}, "", Applies::at_once, "what its programs ask for within `allow_min`, or none",
        "The part of each device that the tenant has for certain while it has work: \"20%\", or device time "
        "in a period, \"5ms/50ms\", or \"none\" (see Promises)."},
       wish_field(&TenantRule::min, session::parse_min)},
      {{"max", TextType{}, "", Applies::at_once, "the whole device, or what its programs ask for",
        "The most of each device that the tenant may use in any second, as \"50%\", also when nobody else "
        "wants it."},
       wish_field(&TenantRule::max, session::parse_max)},
      {{"service", TextType{}, "", Applies::at_once,
        "what its programs ask for within `allow_class`, or normal",
        "The tenant's class of service: \"normal\"; \"latency\" or, with the wanted time from waking to its "
        "turn, \"latency:5ms\"; \"batch\" (see Promises)."},
       wish_field(&TenantRule::service, session::parse_service)},
      {{"units", TextType{}, "", Applies::at_once, "none",
        "A unit of the tenant's service: \"kernel:NAME\", an ended launch of this kernel; \"calls\", a call "
        "of its programs that waits for the device; \"marks\" or \"marks:LABEL\", a mark that they set (see "
        "Overselling)."},
       wish_field(&TenantRule::units, session::parse_service_unit)},
      {{"target", NumberType{kLeastTarget, kMostTarget}, "units per second", Applies::at_once, "none",
        "The service that the tenant is to have while it uses nearly all of its cap. Needs `units`."},
       field(&TenantRule::target)},
      {{"allow_min", TextType{}, "", Applies::new_programs, "as in [tenants]",
        "The largest guarantee that its programs may ask for."},
       wish_field(&TenantRule::allow_min, session::parse_max)},
      {{"memory", DeviceMemoryType{}, "", Applies::at_once, "`default_memory`",
        "The most memory of each device that the tenant may hold."},
       field(&TenantRule::memory)},
      {{"devices", TextType{}, "", Applies::new_programs, "as in [tenants]",
        "The devices that its programs may use."},
       devices_field(&TenantRule::devices)},
      {{"expected_memory", BytesType{kLeastExpected, kMostExpected}, "", Applies::new_programs,
        "only what the tenant holds counts",
        "Memory that the tenant is expected to need on a device: the daemon chooses none that has less left "
        "for "
        "it, and counts it as taken from the program's start on (see Several devices)."},
       field(&TenantRule::expected_memory)},
      {{"session_limit", kSessions, "", Applies::new_programs, "as in [tenants]",
        "Programs at a time of the tenant."},
       field(&TenantRule::session_limit)},
  };
  return kOptions;
}

const ConfigOptions<TenantRule>& tenant_options() {
  static const ConfigOptions<TenantRule> kOptions = [] {
    ConfigOptions<TenantRule> rows = class_options();
    const ConfigOptions<TenantRule> more{
        {{"memory_reserve", DeviceMemoryType{}, "", Applies::at_once, "none",
          "Memory of each device that is kept free of others while the tenant does not hold it. Not more "
          "than "
          "`memory`."},
         field(&TenantRule::memory_reserve)},
        {{"class", TextType{"a tenant class's name", session::is_tenant_name}, "", Applies::at_once, "none",
          "What this table leaves out is as in this [class.\"NAME\"]."},
         field(&TenantRule::class_name)},
        {{"uid", kIds, "", Applies::new_programs, "no user", "Only this user may use the name; see Names."},
         field(&TenantRule::uid)},
        {{"user", TextType{}, "", Applies::new_programs, "no user",
          "The same by the user's name, instead of `uid`."},
         name_field(&TenantRule::uid, find_user, "user", "uid")},
    };
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return kOptions;
}

const ConfigOptions<MatchRule>& match_options() {
  static const ConfigOptions<MatchRule> kOptions{
      {{"tenant",
        TextType{"a tenant's name, in which %u may stand for the user's name and %c for the container",
                 is_tenant_template},
        "", Applies::new_programs, "none; it must be there",
        "The tenant that programs belong to for which the conditions hold."},
       field(&MatchRule::tenant)},
      {{"class", TextType{"a tenant class's name", session::is_tenant_name}, "", Applies::new_programs,
        "none", "The tenant's class, unless its own table names one."},
       field(&MatchRule::class_name)},
      {{"names", ChoiceType{{"fixed", "free"}}, "", Applies::new_programs, "",
        "Whether programs may ask for another tenant: no (they are refused), or as [tenants] allows."},
       words_field(&MatchRule::free_names, "free", "fixed")},
      {{"uid", kIds, "", Applies::new_programs, "any", "Condition: the process runs as this user."},
       field(&MatchRule::uid)},
      {{"user", TextType{}, "", Applies::new_programs, "any",
        "The same by the user's name, instead of `uid`."},
       name_field(&MatchRule::uid, find_user, "user", "uid")},
      {{"gid", kIds, "", Applies::new_programs, "any",
        "Condition: the process is in this group, as its first or another one."},
       field(&MatchRule::gid)},
      {{"group", TextType{}, "", Applies::new_programs, "any",
        "The same by the group's name, instead of `gid`."},
       name_field(&MatchRule::gid, find_group, "group", "gid")},
      {{"cgroup", TextType{"a pattern of whole control group paths, which begins with /", is_cgroup_pattern},
        "", Applies::new_programs, "any",
        "Condition: the process is in a control group (version 2) whose path fits; `*` and `?` stand for "
        "anything, "
        "`/` included; what lies below a fitting group fits, too."},
       field(&MatchRule::cgroup)},
      {{"container", TextType{}, "", Applies::new_programs, "any",
        "Condition: the process is in a container whose label, `ENGINE:ID`, fits the pattern (see Who is "
        "which "
        "tenant)."},
       field(&MatchRule::container)},
  };
  return kOptions;
}

std::string device_title(std::uint32_t index) {
  return "[device." + std::to_string(index) + "]";
}

std::string tenant_title(const std::string& name) {
  return "[tenant.\"" + name + "\"]";
}

std::string class_title(const std::string& name) {
  return "[class.\"" + name + "\"]";
}

std::string match_title(std::size_t index) {
  return "[[match]] " + std::to_string(index + 1);
}

}  // namespace fairgv::daemon
