// The checks of `fairgv doctor`. Each looks at one thing, changes nothing, and returns at least one finding.
// The checks are grouped by theme, in the order in which they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/fairgv/doctor/daemon_probe.hpp"
#include "tools/fairgv/doctor/finding.hpp"
#include "tools/fairgv/doctor/machine.hpp"
#include "tools/fairgv/doctor/settings.hpp"

namespace fairgv::tools::doctor {

/// The subject of an examination: the machine, and the facts that were found out about the daemon beforehand.
struct Examination {
  Machine machine{};
  std::string socket{};                 // absolute
  std::optional<std::string> config{};  // the daemon's configuration, if there is one
  Settings settings{};
  std::string refusal{};  // the daemon's complaints about the configuration
  DaemonAnswer daemon{};

  /// /proc/PID of the daemon, or of this process when no daemon answers: a daemon started from here would
  /// have the same limits.
  std::string process() const;
};

using Check = Findings (*)(const Examination&);

// ICD registration (icd_checks.cpp).
Findings check_front_end(const Examination& examination);       // do programs find FairGV
Findings check_drivers_open(const Examination& examination);    // does each vendor file lead to a driver
Findings check_drivers_once(const Examination& examination);    // is one registered twice
Findings check_worker_drivers(const Examination& examination);  // are there drivers for workers

Findings check_shared_hardware(const Examination& examination);  // devices that are one (daemon_checks.cpp)

// Finds what gets around FairGV, or breaks it for programs (shadow_checks.cpp).
Findings check_vendor_variables(const Examination& examination);
Findings check_further_drivers(const Examination& examination);
Findings check_loader(const Examination& examination);
Findings check_preload(const Examination& examination);
Findings check_tenant_variables(const Examination& examination);

// Device files that tenants could open behind FairGV's back (device_file_checks.cpp).
Findings check_device_files(const Examination& examination);
Findings check_processor(const Examination& examination);

// The daemon (daemon_checks.cpp).
Findings check_socket_folder(const Examination& examination);
Findings check_daemon(const Examination& examination);
Findings check_configuration(const Examination& examination);
Findings check_direct(const Examination& examination);    // who may do without a worker
Findings check_promises(const Examination& examination);  // does each device's policy keep them

// Limits of the daemon and of what it starts (limit_checks.cpp).
Findings check_descriptors(const Examination& examination);
Findings check_locked_memory(const Examination& examination);
Findings check_address_space(const Examination& examination);
Findings check_core_files(const Examination& examination);
Findings check_cores(const Examination& examination);

// Memory of the machine (memory_checks.cpp).
Findings check_shared_memory(const Examination& examination);
Findings check_overcommit(const Examination& examination);
Findings check_memory_group(const Examination& examination);
Findings check_huge_pages(const Examination& examination);

// The kernel (kernel_checks.cpp).
Findings check_kernel_version(const Examination& examination);
Findings check_seccomp(const Examination& examination);
Findings check_user_namespaces(const Examination& examination);
Findings check_schedstat(const Examination& examination);

/// All of them.
Findings examine(const Examination& examination);

/// The finding of check_shared_memory() for a file system of so many bytes.
Finding shared_memory_finding(std::uint64_t size, std::uint64_t free);

}  // namespace fairgv::tools::doctor
