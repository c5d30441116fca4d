// Checks that there is memory for arenas and drivers, and who counts it.
#include <fmt/core.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "tools/fairgv/doctor/checks/checks.hpp"

namespace fairgv::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLittleSharedMemory = std::uint64_t{64} << 20;  // containers' default
constexpr std::uint64_t kNoMemoryLimit = std::uint64_t{1} << 60;  // cgroup v1 writes a huge number instead

constexpr const char* kHugePages = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

std::string mib(std::uint64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

/// The smallest number that a file of this name holds in `group` or a group above it.
std::uint64_t smallest_above(const Machine& machine, const fs::path& mount, fs::path group,
                             const char* name) {
  std::uint64_t smallest = kNoMemoryLimit;
  for (;; group = group.parent_path()) {
    const std::string text = machine.text(mount / group.relative_path() / name).value_or("");
    std::uint64_t limit = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (error == std::errc()) smallest = std::min(smallest, limit);
    if (!group.has_relative_path()) return smallest;
  }
}

/// cgroups(7): a line is HIERARCHY:CONTROLLERS:GROUP; version 2 names no controllers.
std::uint64_t memory_limit(const Machine& machine, const std::string& process) {
  std::uint64_t smallest = kNoMemoryLimit;
  std::istringstream lines(machine.text(process + "/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      smallest = std::min(smallest, smallest_above(machine, "/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers == "memory") {
      smallest = std::min(smallest,
                          smallest_above(machine, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

}  // namespace

Finding shared_memory_finding(std::uint64_t size, std::uint64_t free) {
  const std::string text = fmt::format("{} of {} free", mib(free), mib(size));
  if (free >= kLittleSharedMemory) return ok("/dev/shm", text);
  return note("/dev/shm", text + ": FairGV keeps nothing there, but drivers may",
              "mount -o remount,size=1G /dev/shm, or --shm-size=1g for a container");
}

Findings check_shared_memory(const Examination& examination) {
  struct statvfs status {};
  if (::statvfs(examination.machine.at("/dev/shm").c_str(), &status) != 0) {
    return {note("/dev/shm", "is not there: FairGV does without, but drivers may not",
                 "mount -t tmpfs tmpfs /dev/shm")};
  }
  return {shared_memory_finding(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)};
}

Findings check_overcommit(const Examination& examination) {
  constexpr const char* kFile = "/proc/sys/vm/overcommit_memory";
  const std::string mode = examination.machine.text(kFile).value_or("");
  if (mode == "0" || mode == "1") return {ok("overcommit", fmt::format("vm.overcommit_memory = {}", mode))};
  if (mode.empty()) return {note("overcommit", std::string(kFile) + " cannot be read", "ask again as root")};
  return {note(
      "overcommit",
      fmt::format("vm.overcommit_memory = {}: drivers that reserve more address space than they use may fail",
                  mode),
      "sysctl vm.overcommit_memory=0")};
}

Findings check_memory_group(const Examination& examination) {
  const std::uint64_t limit = memory_limit(examination.machine, examination.process());
  if (limit >= kNoMemoryLimit) return {ok("memory limit", "no control group sets one")};
  return {
      note("memory limit",
           fmt::format(
               "a control group has {} for the daemon, all workers and all buffers that they touched first",
               mib(limit)),
           "MemoryMax=infinity in the daemon's unit, or --memory for a container, if that is too little")};
}

Findings check_huge_pages(const Examination& examination) {
  const std::string modes = examination.machine.text(kHugePages).value_or("");
  const auto begin = modes.find('[');
  const auto end = modes.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return {ok("huge pages", "the kernel makes none for shared memory")};
  }
  const std::string mode = modes.substr(begin + 1, end - begin - 1);
  const std::string text = fmt::format("{} is '{}'", kHugePages, mode);
  if (mode == "never" || mode == "deny" || mode == "advise") return {ok("huge pages", text)};
  return {note("huge pages",
               text + ": the first byte that is touched of an arena's 2 MiB may cost all of them",
               fmt::format("echo advise > {}", kHugePages))};
}

}  // namespace fairgv::tools::doctor
