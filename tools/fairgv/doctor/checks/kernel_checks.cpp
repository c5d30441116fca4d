// Checks that the kernel has the features that FairGV needs, and those that it can use.
#include <fmt/core.h>

#include <charconv>
#include <utility>

#include "tools/fairgv/doctor/checks/checks.hpp"

namespace fairgv::tools::doctor {
namespace {

using Version = std::pair<unsigned, unsigned>;
constexpr Version kOldestKernel{5, 11};  // close_range(2) with CLOSE_RANGE_CLOEXEC

/// "6.1.0-18-amd64"; {0, 0} if it is written in another way.
Version parse_version(const std::string& release) {
  Version version;
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, version.first);
  if (error != std::errc() || dot == end) return {};
  if (std::from_chars(dot + 1, end, version.second).ec != std::errc()) return {};
  return version;
}

}  // namespace

Findings check_kernel_version(const Examination& examination) {
  const std::string release = examination.machine.text("/proc/sys/kernel/osrelease").value_or("");
  const Version version = parse_version(release);
  if (version == Version{}) {
    return {note("kernel", fmt::format("'{}' is no version that is understood", release),
                 "uname -r must say 5.11 or newer")};
  }
  if (version >= kOldestKernel) return {ok("kernel", release)};
  return {
      wrong("kernel", release + " is too old to start workers", "install a kernel of version 5.11 or newer")};
}

Findings check_seccomp(const Examination& examination) {
  const std::string actions = examination.machine.text("/proc/sys/kernel/seccomp/actions_avail").value_or("");
  if (!actions.empty()) return {ok("seccomp", "filters can be set: " + actions)};
  return {note("seccomp", "what a worker may ask of the kernel cannot be filtered",
               "install a kernel with CONFIG_SECCOMP_FILTER=y")};
}

Findings check_user_namespaces(const Examination& examination) {
  const Machine& machine = examination.machine;
  struct Switch {
    const char* file;
    const char* off;  // the file's text then
    const char* remedy;
  };
  constexpr Switch kSwitches[] = {
      {"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
      {"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
      {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
       "sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
  };
  const char* const what = "a daemon that is not root's cannot hide files from its workers";
  if (!machine.text(kSwitches[0].file)) {
    return {note("user namespaces", fmt::format("the kernel has none: {}", what),
                 "install a kernel with CONFIG_USER_NS=y")};
  }
  for (const Switch& each : kSwitches) {
    if (machine.text(each.file) != each.off) continue;
    return {note("user namespaces", fmt::format("{} is {}: {}", each.file, each.off, what), each.remedy)};
  }
  return {ok("user namespaces", "users may make them")};
}

Findings check_schedstat(const Examination& examination) {
  const std::string counts = examination.machine.text("/proc/self/schedstat").value_or("");
  // All three are zero where the kernel can count, but does not.
  if (!counts.empty() && counts != "0 0 0")
    return {ok("schedstat", "the kernel counts how long threads wait")};
  const char* const what =
      "how long threads wait is not counted: of a CPU device, tenants are charged what other processes took";
  if (counts.empty()) return {note("schedstat", what, "install a kernel with CONFIG_SCHEDSTATS=y")};
  return {note("schedstat", what, "sysctl kernel.task_delayacct=1")};
}

}  // namespace fairgv::tools::doctor
