#include "runtime/daemon/worker/host_weight.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "runtime/daemon/worker/control_group_mount.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUsualShares = 1024;  // cpu.shares of a new group
constexpr std::uint64_t kMostShares = 262'144;

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The number in the file of this name in the group's folder, or in the nearest one above that has the file.
std::optional<std::uint64_t> nearest(const ControlGroupFolder& folder, const char* name) {
  for (fs::path group = folder.group;; group = group.parent_path()) {
    std::ifstream file(group / name);
    std::uint64_t number = 0;
    if (file >> number) return number;
    if (group == folder.top || !group.has_relative_path()) return std::nullopt;
  }
}

}  // namespace

std::uint32_t host_weight(pid_t process) {
  return host_weight(content_of("/proc/self/mountinfo"),
                     content_of("/proc/" + std::to_string(process) + "/cgroup"));
}

std::uint32_t host_weight(std::string_view mounts, std::string_view groups) {
  std::optional<std::uint64_t> weight;
  if (const auto folder = control_group_folder(mounts, groups, "")) weight = nearest(*folder, "cpu.weight");
  if (!weight) {
    const auto folder = control_group_folder(mounts, groups, "cpu");
    const auto shares = folder ? nearest(*folder, "cpu.shares") : std::nullopt;
    if (shares) weight = std::min(*shares, kMostShares) * kUsualHostWeight / kUsualShares;
  }
  // A group of cpu.idle has the weight 0.
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(weight.value_or(kUsualHostWeight), 1, kMostHostWeight));
}

}  // namespace fairgv::daemon
