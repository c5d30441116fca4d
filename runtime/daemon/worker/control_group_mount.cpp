#include "runtime/daemon/worker/control_group_mount.hpp"

#include <algorithm>
#include <sstream>

#include "runtime/daemon/tenants/peers/peer_process.hpp"

namespace fairgv::daemon {
namespace {

/// Whether a list that is separated by commas has this word.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find(','));
    if (first == word) return true;
    list.remove_prefix(std::min(list.size(), first.size() + 1));
  }
  return false;
}

/// The path of the process' group; nothing if it has none.
std::optional<std::string> group_of(std::string_view groups, std::string_view controller) {
  if (controller.empty()) {
    auto group = parse_control_group(groups);
    return group ? std::optional(std::move(group).value()) : std::nullopt;
  }
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {
    // number:controllers:path, and the path may contain colons.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view all(line);
    if (lists(all.substr(first + 1, second - first - 1), controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ControlGroupFolder> control_group_folder(std::string_view mounts, std::string_view groups,
                                                       std::string_view controller) {
  const auto group = group_of(groups, controller);
  // ".." stands for groups outside of the process' own namespace of control groups.
  if (!group || group->starts_with("/..")) return std::nullopt;
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    // Number, parent, device, root, mount point, options, others, "-", type, source, options of the
    // hierarchy.
    std::istringstream words(line);
    std::string skipped, root, point, type, options;
    words >> skipped >> skipped >> skipped >> root >> point;
    while (words >> skipped && skipped != "-") {
    }
    if (!(words >> type) || type != (controller.empty() ? "cgroup2" : "cgroup")) continue;
    words >> skipped >> options;
    if (!controller.empty() && !lists(options, controller)) continue;
    // A container may be shown a part of the hierarchy only, in which its groups are named from the top.
    std::string_view below = *group;
    if (root != "/") {
      if (!below.starts_with(root)) continue;
      below.remove_prefix(root.size());
    }
    if (!below.empty() && below.front() != '/') continue;
    const auto folder = (std::filesystem::path(point + std::string(below)) / "").parent_path();
    return ControlGroupFolder{point, folder.lexically_normal()};
  }
  return std::nullopt;
}

}  // namespace fairgv::daemon
