// The folder of a control group, found by the texts of two files that the kernel writes: the mounts of a
// process (proc_pid_mountinfo(5)) and the groups of one (/proc/PID/cgroup, cgroups(7)).
//
// Pure logic.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace fairgv::daemon {

struct ControlGroupFolder {
  std::filesystem::path top;    // the mount point of its hierarchy
  std::filesystem::path group;  // below it, or the same
};

/// Of the process that has these groups, in the mounts' view: in the hierarchy of version 2 if `controller`
/// is empty, else in that of version 1 which has this controller. Nothing if there is none, or if the group
/// is outside of what the mounts show.
std::optional<ControlGroupFolder> control_group_folder(std::string_view mounts, std::string_view groups,
                                                       std::string_view controller);

}  // namespace fairgv::daemon
