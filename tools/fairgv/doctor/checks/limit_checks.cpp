// Checks that the limits of the daemon, or of a daemon started here, are high enough for its work.
#include <fmt/core.h>

#include <sstream>

#include "runtime/base/core_set.hpp"
#include "tools/fairgv/doctor/checks/checks.hpp"
#include "tools/fairgv/doctor/device_files.hpp"
#include "tools/fairgv/doctor/process_limits.hpp"

namespace fairgv::tools::doctor {
namespace {

// The descriptors that fairgvd asks for when it starts (runtime/daemon/limits/descriptor_plan.cpp).
constexpr std::uint64_t kDescriptorsPerSession = 10;
constexpr std::uint64_t kOtherDescriptors = 1'088;
// A session's arena is that much address space; its pages exist once touched (docs/ARCHITECTURE.md).
constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 30;

std::string whose(const Examination& examination) {
  return examination.daemon.answers() ? "the daemon" : "a daemon started from here";
}

Findings cannot_be_read(const Examination& examination, const char* subject) {
  return {note(subject, examination.process() + "/limits cannot be read", "ask again as root")};
}

std::string amount(std::uint64_t bytes) {
  return bytes == kUnlimited ? "any amount" : fmt::format("{} KiB", bytes >> 10);
}

std::string list_of(const cpu_set_t& cores) {
  std::string text;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) text += (text.empty() ? "" : ",") + std::to_string(core);
  }
  return text;
}

/// The cores that this process may use, and so may a daemon started from here.
Result<cpu_set_t> usable_cores(const Machine& machine) {
  constexpr std::string_view kKey = "Cpus_allowed_list:\t";
  std::istringstream lines(machine.text("/proc/self/status").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kKey)) return parse_core_set(line.substr(kKey.size()));
  }
  return Error{"/proc/self/status does not say which cores may be used"};
}

Finding device_cores_finding(const std::string& wanted, const cpu_set_t& usable) {
  const std::string subject = "[device] cores";
  const std::string remedy = fmt::format("cores = \"LIST\" with some, but not all, of {}", list_of(usable));
  const auto cores = parse_core_set(wanted);
  if (!cores) return wrong(subject, cores.error().message, remedy);
  const cpu_set_t beyond = other_cores(cores.value(), usable);
  const cpu_set_t left = other_cores(usable, cores.value());
  if (CPU_COUNT(&beyond) != 0)
    return wrong(subject, fmt::format("{} cannot be used here", list_of(beyond)), remedy);
  if (CPU_COUNT(&left) == 0)
    return wrong(subject, fmt::format("'{}' leaves none for programs", wanted), remedy);
  return ok(subject, fmt::format("{} for the device, {} for everything else", wanted, list_of(left)));
}

}  // namespace

Findings check_descriptors(const Examination& examination) {
  const auto limit = process_limit(examination.machine, examination.process(), "Max open files");
  if (!limit) return cannot_be_read(examination, "descriptors");
  const std::uint64_t sessions = examination.settings.session_limit;
  const std::uint64_t wanted = sessions * kDescriptorsPerSession + kOtherDescriptors;
  if (limit->hard >= wanted) {
    return {ok("descriptors", fmt::format("{} may open the {} that {} sessions need", whose(examination),
                                          wanted, sessions))};
  }
  const std::uint64_t served =
      limit->hard < kOtherDescriptors ? 0 : (limit->hard - kOtherDescriptors) / kDescriptorsPerSession;
  const std::string otherwise =
      served == 0 ? "" : fmt::format("; or session_limit = {} in [daemon] of the configuration", served);
  return {wrong("descriptors",
                fmt::format("{} may open {}, but {} sessions need {}", whose(examination), limit->hard,
                            sessions, wanted),
                fmt::format("LimitNOFILE={} in the daemon's unit, or ulimit -n {} before it starts{}", wanted,
                            wanted, otherwise))};
}

Findings check_locked_memory(const Examination& examination) {
  const auto limit = process_limit(examination.machine, examination.process(), "Max locked memory");
  if (!limit) return cannot_be_read(examination, "locked memory");
  const std::string text = fmt::format("workers of {} may lock {}", whose(examination), amount(limit->soft));
  if (limit->soft == kUnlimited) return {ok("locked memory", text)};
  if (device_files(examination.machine).empty()) {
    return {ok("locked memory", text + ", and a CPU device needs none")};
  }
  return {note("locked memory", text + ", but drivers of accelerators may have to lock whole transfers",
               "LimitMEMLOCK=infinity in the daemon's unit, or ulimit -l unlimited before it starts")};
}

Findings check_address_space(const Examination& examination) {
  const auto limit = process_limit(examination.machine, examination.process(), "Max address space");
  if (!limit) return cannot_be_read(examination, "address space");
  const std::string text =
      fmt::format("{} and its workers may map {}", whose(examination), amount(limit->soft));
  if (limit->soft > kArenaBytes) return {ok("address space", text)};
  return {wrong("address space", text + ", but each session maps an arena of 64 GiB",
                "LimitAS=infinity in the daemon's unit, or ulimit -v unlimited before it starts")};
}

Findings check_core_files(const Examination& examination) {
  const auto limit = process_limit(examination.machine, examination.process(), "Max core file size");
  if (!limit) return cannot_be_read(examination, "core files");
  if (limit->soft == 0)
    return {ok("core files", fmt::format("workers of {} leave none", whose(examination)))};
  return {note(
      "core files",
      fmt::format("a worker of {} that crashes leaves one of {}, with its tenant's data and the driver's",
                  whose(examination), amount(limit->soft)),
      "LimitCORE=0 in the daemon's unit, or ulimit -c 0 before it starts")};
}

Findings check_cores(const Examination& examination) {
  const auto usable = usable_cores(examination.machine);
  if (!usable) return {note("cores", usable.error().message, "mount -t proc proc /proc")};
  const int count = CPU_COUNT(&usable.value());
  Findings findings;
  if (count == 1) {
    findings.push_back(
        note("cores", "there is one: programs, workers and a CPU device wait for each other",
             "taskset -c 0-N fairgvd ..., or AllowedCPUs= in the daemon's unit, with more of them"));
  } else {
    findings.push_back(ok("cores", fmt::format("{} can be used: {}", count, list_of(usable.value()))));
  }
  if (const std::string& wanted = examination.settings.cores; !wanted.empty()) {
    findings.push_back(device_cores_finding(wanted, usable.value()));
  }
  return findings;
}

}  // namespace fairgv::tools::doctor
