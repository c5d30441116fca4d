// The daemon's configuration: a TOML file, checked completely when it is read (docs/man/fairgvd.toml.5.md).
//
// An unknown key, a wrong type or a value out of range is an error that names file, line and column. There is
// no partial success: on an error the caller keeps what it has.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "sched/policies/registry.hpp"
#include "sched/types.hpp"

namespace fairgv::daemon {

/// [tenant."name"]: what the administrator has decided about one tenant.
struct TenantRule {
  std::optional<std::uint32_t> weight;      // pinned: what programs ask for is ignored
  std::optional<std::uint32_t> max_weight;  // caps what programs ask for
  std::optional<uid_t> uid;                 // only this user may use the name
};

/// [tenants] and [tenant.*]
struct TenantRules {
  std::uint32_t default_weight = sched::kDefaultWeight;  // for who asks for none
  std::uint32_t max_weight = sched::kMaxWeight;          // the most that programs may ask for
  std::map<std::string, TenantRule> by_name;

  /// The rule for this tenant; an empty one when nothing was said.
  const TenantRule& of(const std::string& name) const;
};

/// How a device is shared while several want it (docs/SCHEDULING.md).
struct DeviceRule {
  std::string policy{sched::kDefaultPolicy};
  std::chrono::nanoseconds slice = std::chrono::milliseconds(6);
};

/// [device] and [device.N]
struct DeviceRules {
  DeviceRule common;
  std::map<std::uint32_t, DeviceRule> by_index;  // whole rules: what [device.N] leaves out is as in [device]

  const DeviceRule& of(std::uint32_t device) const;
};

/// How launches that outlast a slice are cut (docs/SLICING.md). Workers have the defaults.
struct SlicingRule {
  std::string mode = "time";           // one of kSlicingModes
  std::optional<std::uint64_t> floor;  // work-groups of the smallest part
  std::vector<std::string> never;      // functions that run whole
};

struct Config {
  // [daemon]
  std::optional<std::string> socket;
  std::string log_level = "info";
  std::chrono::duration<double> exit_idle{0};  // 0: never
  std::uint32_t session_limit = 256;
  // [device]
  DeviceRules devices;
  std::uint32_t samples = 5;  // commands measured one by one after a switch
  std::string device_cores;   // where a CPU device's threads run, and workers' own do not; empty: anywhere
  bool coscheduling = true;   // interactive programs are woken with their turns, on devices apart
  SlicingRule slicing;
  // [opencl]
  std::string vendors = "/etc/OpenCL/vendors";
  // [tenants], [tenant.*]
  TenantRules tenants;
};

/// The names that slicing takes: by measured time, by the paper's rule (FairGV, section 5.5.2), not at all.
inline constexpr const char* kSlicingModes[] = {"time", "static", "off"};

/// The names that log_level and --log-level take.
inline constexpr const char* kLogLevels[] = {"trace", "debug", "info", "warning", "error", "off"};

/// Reads a file. User names in it are looked up.
Result<Config> read_config(const std::string& path);
/// The same from text; `path` is for the errors.
Result<Config> parse_config(const std::string& text, const std::string& path);

}  // namespace fairgv::daemon
