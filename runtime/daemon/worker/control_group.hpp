// A control group (version 2) around one worker and its descendants: they are killed together, and their
// processor time is counted together, whatever they do (Linux, cgroup-v2.rst). It needs no controller, so it
// also works on systems that have their controllers in version 1.
//
// A group is a folder of the kernel's; its descriptor is locked (flock) while its daemon lives. A group that
// is not locked was left over by a daemon that died. Externally synchronised.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

class ControlGroup {
 public:
  /// An empty group below `folder`, for a session of this process, which may have several: while a session
  /// moves, it has two workers.
  static Result<ControlGroup> make(const std::filesystem::path& folder, std::uint32_t session);
  /// A group that the program before this one, in the same process, has made. Takes its descriptor.
  static Result<ControlGroup> adopt(std::filesystem::path path, UniqueFd fd);

  /// Kills the processes in it, and removes the group unless that takes time.
  ~ControlGroup();
  ControlGroup(ControlGroup&& other) noexcept = default;
  ControlGroup& operator=(ControlGroup&& other) noexcept = default;

  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_.get(); }

  /// A descriptor by which a process enters the group: it writes "0" to it. Empty with errno if there is
  /// none.
  UniqueFd entrance() const;
  /// Every process of the group, now and however many there are.
  void kill() const;
  /// The processor time of all processes that are, or were, in it. Nothing if the kernel does not tell.
  std::optional<std::chrono::nanoseconds> processor_time() const;
  /// False while a process of the group lives. Its counters stay readable.
  bool remove();

 private:
  ControlGroup(std::filesystem::path path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::filesystem::path path_;
  UniqueFd fd_;
  std::optional<std::chrono::nanoseconds> last_;  // of a removed group
};

/// The folder below which this process can make groups that can be killed: its own group's. Nothing if it
/// cannot. Tried once.
const std::optional<std::filesystem::path>& control_group_folder();

/// The same by the texts of /proc/self/mountinfo and /proc/self/cgroup, untried.
std::optional<std::filesystem::path> control_group_folder(std::string_view mounts, std::string_view own);

/// Ends the groups that dead daemons have left below `folder`, as far as they can be ended at once. Call it
/// when all groups of this process were made or adopted.
void clear_left_over_groups(const std::filesystem::path& folder);

}  // namespace fairgv::daemon
