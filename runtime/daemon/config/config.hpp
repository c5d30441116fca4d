// The daemon's configuration: a TOML file, checked completely when it is read (docs/man/fairgvd.toml.5.md).
//
// Beside FILE, the files FILE.d/*.toml are read, in the order of their names: later files override earlier
// ones. So is the specification file that [timegraph] names. An unknown key, a wrong type, a value out of
// range, values that contradict each other, and folders that are not there are errors that name file, line
// and column. All mistakes are told at once, a line each. There is no partial success: on an error the caller
// keeps what it has.
//
// The options and their meanings are one table: config/options.hpp.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/memory_size.hpp"
#include "runtime/base/result.hpp"
#include "runtime/daemon/config/values/devices_wanted.hpp"
#include "runtime/daemon/config/values/move_link.hpp"
#include "runtime/session/direct/direct_mode.hpp"
#include "runtime/session/service_unit.hpp"
#include "runtime/session/wish/tenant_wish.hpp"
#include "runtime/session/worker_options.hpp"
#include "sched/attributes.hpp"
#include "sched/oversell/capacity.hpp"
#include "sched/policies/registry.hpp"
#include "sched/sampling.hpp"
#include "sched/slice_rule.hpp"
#include "sched/types.hpp"

namespace fairgv::daemon {

inline constexpr std::uint32_t kMostSessions = 10'000;
/// Connections that are no sessions, of everybody together.
inline constexpr std::size_t kMostConnections = 1'024;

/// [tenant."name"]: the administrator's rule for one tenant.
struct TenantRule {
  std::optional<std::uint32_t> weight{};           // pinned: what programs ask for is ignored
  std::optional<std::uint32_t> max_weight{};       // caps what programs ask for
  std::optional<sched::Reservation> min{};         // pinned, as the weight
  std::optional<sched::Share> max{};               // a ceiling; programs may ask for less
  std::optional<session::ServiceWish> service{};   // pinned
  std::optional<sched::Share> allow_min{};         // the most that programs may ask for
  std::optional<uid_t> uid{};                      // only this user may use the name
  std::optional<MemorySize> memory{};              // the most that it may hold of a device
  std::optional<MemorySize> memory_reserve{};      // kept free of others while it does not hold it
  std::optional<DevicesWanted> devices{};          // that its programs may use
  std::optional<std::uint64_t> expected_memory{};  // bytes that it is expected to need on a device
  std::optional<std::uint32_t> session_limit{};
  std::optional<session::ServiceUnit> units{};  // of its service; what counts as one
  std::optional<double> target{};               // so many in a second
  std::optional<session::DirectMode> direct{};  // of its CUDA programs
  std::string class_name{};                     // the rest is as in [class."class_name"]; empty: none
};

/// [[match]]: the programs that belong to a tenant, by the kernel's facts about their process (matching.hpp).
/// All conditions that are there must hold.
struct MatchRule {
  std::string tenant;          // the name, in which %u stands for the user's and %c for the container
  std::string class_name{};    // of the tenant, unless [tenant."NAME"] names one
  std::optional<uid_t> uid{};  // conditions, from here on
  std::optional<gid_t> gid{};  // the process has it, as its first group or another
  std::string cgroup{};        // pattern of its control group
  std::string container{};     // pattern of its container's label
  bool free_names = false;     // programs may ask for another tenant; else they are refused
  std::string place{};         // "file:line", for people to read
};

/// [timegraph]: what counts where a device has the policy of that name.
struct TimeGraphRules {
  std::string spec{};  // path of the specification file, as it was written; empty: there is none
  std::map<std::string, sched::TimeGraphTask> tasks{};  // of that file, by tenant
  sched::Share limit = sched::kWholeDevice;             // of all reserves together
};

/// [tenants], [tenant.*], [class.*], [[match]] and [timegraph]
struct TenantRules {
  std::uint32_t default_weight = sched::kDefaultWeight;  // for programs that ask for none
  std::uint32_t max_weight = sched::kMaxWeight;          // the most that programs may ask for
  sched::Share allow_min{};                              // the largest guarantee that programs may ask for
  std::vector<std::string> allow_service{"normal", "batch"};  // classes that programs may ask for
  sched::Share promise_limit{900'000};  // of all guarantees and the floor of the batch class together
  bool refuse_overbooked = true;  // a guarantee that does not fit; else its tenant becomes a batch tenant
  MemorySize default_memory = kWholeDevice;  // of tenants without a rule
  DevicesWanted devices{};                   // the same
  bool free_names = true;                    // else only the user's own and those that are reserved
  bool subordinate_to_owner = true;  // subordinate user ids count for their owner; else each for itself
  std::uint32_t session_limit = kMostSessions;  // of each tenant
  std::map<std::string, TenantRule> by_name;
  std::map<std::string, TenantRule> classes;  // without users and classes of their own
  std::vector<MatchRule> matches;             // the first one that fits decides
  TimeGraphRules timegraph{};

  /// The rule for this tenant, filled up from its class or else from `class_name`; an empty one when nothing
  /// was said.
  TenantRule of(const std::string& name, const std::string& class_name = {}) const;
  DevicesWanted devices_of(const std::string& name, const std::string& class_name = {}) const {
    return of(name, class_name).devices.value_or(devices);
  }
  /// Whether any tenant may use some devices only.
  bool choose_devices() const;
};

/// When memory comes in and goes out where it is lent (turns/memory_lender.hpp).
enum class OversubscribeMode { turns, demand };

/// How a device is shared while several want it (docs/SCHEDULING.md).
struct DeviceRule {
  std::string policy{sched::kDefaultPolicy};
  sched::SliceRule slices = sched::kAdaptiveSlice;
  sched::Sampling sampling = sched::Sampling::history;
  std::optional<MemorySize> memory{};  // to share out; none: all that the device has
  std::chrono::nanoseconds hold_limit = std::chrono::seconds(10);  // for a command while others wait; 0: none
  bool interrupts = true;  // turns, on the host's own processors (turns/interruption.hpp)
  std::optional<std::uint32_t>
      wake_latency_us{};  // of processors, while several want it; none: as the system likes
  bool oversell = false;  // by what tenants use and need (daemon/oversell/)
  sched::Share oversell_limit = sched::oversell::kSellUpTo;  // of the device, for that use and a newcomer
  std::optional<double> oversell_ratio{};           // instead: sold so many times, whatever tenants use
  std::optional<std::uint32_t> oversell_move_to{};  // where sessions go while the device is overloaded
  std::optional<std::uint32_t> evacuate_to{};       // where sessions go first when the device is drained
  std::optional<double> oversubscribe{};            // its memory is lent so many times; none: it is not
  OversubscribeMode oversubscribe_mode = OversubscribeMode::turns;
  std::chrono::nanoseconds oversubscribe_turn = std::chrono::seconds(2);  // the longest turn for that
  std::uint64_t oversubscribe_link = 0;  // simulated, bytes per second each way; 0: none
  // [device.N] only:
  std::optional<std::uint32_t> same_as{};    // see devices/hardware.hpp
  std::optional<std::uint64_t> speed{};      // sched::DeviceProfile::speed; none: as the driver says
  std::optional<std::uint64_t> bandwidth{};  // bytes per second between host and device; none: unknown
};

/// [device] and [device.N]
struct DeviceRules {
  DeviceRule common;
  std::map<std::uint32_t, DeviceRule> by_index;  // whole rules: what [device.N] leaves out is as in [device]

  const DeviceRule& of(std::uint32_t device) const;
};

/// How workers are confined (docs/SECURITY.md).
struct WorkerRule {
  bool private_view = true;  // of the file system
  bool syscall_filter = true;
  bool core_dumps = false;
  std::optional<std::uint64_t> memory;  // bytes of a worker's private memory
  std::vector<std::string> readable;    // more folders that workers see
  std::string cache;                    // folder of the workers' caches; empty: the system's place
};

/// Address space is set aside for no more.
inline constexpr std::uint64_t kMostSharedMemory = std::uint64_t{64} << 30;

/// The daemon's own bounds and services for each session.
struct SessionRule {
  std::optional<std::uint64_t> shared_memory = {};  // bytes of its arena; none: the machine's memory
  bool driver_messages = true;                      // the program gets what its driver says
  /// How long the worker of a session that moves may take to come to rest and write its image.
  std::chrono::nanoseconds move_patience = std::chrono::seconds(60);
  std::optional<MoveLink> move_link{};  // between the workers of a session that moves; none: there is none
  /// Bytes of memory for the images of parked sessions together; none: a part of the machine's.
  std::optional<std::uint64_t> parked_memory{};
  std::string parked_folder{};  // for images in files; empty: the system's place
};

/// Where metrics are told (docs/METRICS.md).
struct MetricsRule {
  std::string listen;  // "127.0.0.1:9477", "[::1]:9477" or "unix:/path"; empty: nowhere
};

/// How tenants' use is kept.
struct UsageRule {
  std::string store;  // path of the file; empty: nothing is kept
  std::chrono::nanoseconds flush = std::chrono::seconds(10);
  std::uint32_t retention_days = 400;
};

struct Config {
  // [daemon]
  std::optional<std::string> socket;
  std::string log_level = "info";
  std::chrono::duration<double> exit_idle{0};  // 0: never
  std::uint32_t session_limit = 256;
  std::uint32_t user_session_limit = 64;         // of each user but root and the daemon's own
  std::uint32_t user_connection_limit = 64;      // the same, of connections that are no sessions
  std::optional<std::uint32_t> kept_sessions{};  // of session_limit, for administrators; none: a part of it
  std::chrono::duration<double> hello_timeout{10};  // until a connection says what it is
  std::chrono::duration<double> idle_timeout{
      60};                           // of a user's control connection without requests; 0: never
  std::optional<gid_t> group;        // its members may connect; none: root's daemon serves everybody
  std::optional<gid_t> admin_group;  // its members may use `fairgv` as root may
  // [device]
  DeviceRules devices;
  // [session]
  SessionRule session;
  // of [device] and [session], as every worker is told it
  session::WorkerTuning tuning{};
  // [worker]
  WorkerRule worker;
  // [metrics], [usage]
  MetricsRule metrics;
  UsageRule usage;
  // [opencl]
  std::string vendors = "/etc/OpenCL/vendors";
  bool driver_names = false;  // platforms have their drivers' names; else FairGV's
  // [cuda]
  std::optional<std::string> cuda_library;                // the CUDA driver; none: see cuda_drivers()
  session::DirectMode direct = session::DirectMode::off;  // of CUDA programs of which nothing else is said
  // [tenants], [tenant.*], [class.*], [[match]], [timegraph]
  TenantRules tenants;

  /// The places of the values that a file gave: "[device] slice_ms" to "file:line".
  std::map<std::string, std::string> origins{};
};

/// The names that slicing takes: by measured time, by the paper's rule (FairGV, section 5.5.2), not at all.
inline constexpr const char* kSlicingModes[] = {"time", "static", "off"};

/// The names that log_level and --log-level take.
inline constexpr const char* kLogLevels[] = {"trace", "debug", "info", "warning", "error", "off"};

/// One of the files that make up a configuration.
struct ConfigText {
  std::string path;  // for the errors
  std::string text;
};

/// The file that fairgvd reads when none is named: of root /etc/fairgv/fairgvd.toml, of another user
/// $XDG_CONFIG_HOME/fairgv/fairgvd.toml or ~/.config/fairgv/fairgvd.toml. None if neither it nor its drop-in
/// folder is there.
std::optional<std::string> default_config_path();

/// Reads a file, unless it is the default one and missing, and its drop-in files. User names in them are
/// looked up.
Result<Config> read_config(const std::string& path);
/// The same from text; folders are not looked for, and no specification file is read.
Result<Config> parse_config(const std::vector<ConfigText>& texts);
Result<Config> parse_config(const std::string& text, const std::string& path);
/// The lines of an Error of these functions.
std::vector<std::string> lines_of(const Error& error);

}  // namespace fairgv::daemon
