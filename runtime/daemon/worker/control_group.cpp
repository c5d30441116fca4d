#include "runtime/daemon/worker/control_group.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/daemon/worker/control_group_mount.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "fairgv-";

/// The number of no session: sessions begin with 1.
constexpr std::uint32_t kTrial = 0;

/// Groups of one session at a time.
constexpr std::uint32_t kMostOfASession = 8;

/// The first group of a session has no number of its own.
std::string group_name(pid_t daemon, std::uint32_t session, std::uint32_t nth) {
  const std::string name = std::string(kPrefix) + std::to_string(daemon) + "-" + std::to_string(session);
  return nth == 0 ? name : name + "-" + std::to_string(nth);
}

std::string own_file(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_gone(const fs::path& path) {
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

/// The daemon that has made the group of this name; nothing if it is not a group of ours.
std::optional<pid_t> maker_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  pid_t maker = 0;
  const auto number = std::from_chars(name.data() + kPrefix.size(), end, maker);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != '-') return std::nullopt;
  std::uint32_t session = 0;
  std::uint32_t nth = 0;
  auto rest = std::from_chars(number.ptr + 1, end, session);
  if (rest.ec == std::errc() && rest.ptr != end && *rest.ptr == '-')
    rest = std::from_chars(rest.ptr + 1, end, nth);
  return rest.ec == std::errc() && rest.ptr == end ? std::optional(maker) : std::nullopt;
}

/// Groups in the folder that belong to a dead daemon. A living daemon makes its groups a moment before it
/// locks them, so the lock alone does not tell.
std::vector<fs::path> left_over_in(const fs::path& folder) {
  std::vector<fs::path> groups;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const auto maker = maker_of(entries->path().filename());
    if (!maker || *maker <= 0) continue;
    const bool gone = *maker == ::getpid() || (::kill(*maker, 0) != 0 && errno == ESRCH);
    if (gone) groups.push_back(entries->path());
  }
  return groups;
}

/// Whether a process can enter a group and leave with it: some systems let groups be made that nobody may
/// enter.
bool can_be_entered(const ControlGroup& group) {
  const UniqueFd entrance = group.entrance();
  if (!entrance) return false;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::write(entrance.get(), "0", 1) == 1 ? 0 : 1);
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::optional<fs::path> find_folder() {
  auto folder = control_group_folder(own_file("/proc/self/mountinfo"), own_file("/proc/self/cgroup"));
  if (!folder) return std::nullopt;
  auto trial = ControlGroup::make(*folder, kTrial);
  if (!trial) return std::nullopt;
  const bool works = can_be_entered(trial.value());
  trial->kill();
  return trial->remove() && works ? folder : std::nullopt;
}

/// Whether no ControlGroup has the folder, in this process or another. One that has it removes it by its
/// path, whatever is there by then, although nothing may be left in it.
bool is_nobodys(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

/// Makes the folder of a group that is nobody's yet. A group that an earlier daemon with this number has left
/// goes first.
Result<fs::path> make_folder(const fs::path& folder, std::uint32_t session) {
  fs::path path;
  for (std::uint32_t nth = 0; nth < kMostOfASession; ++nth) {
    path = folder / group_name(::getpid(), session, nth);
    if (::mkdir(path.c_str(), 0755) == 0) return path;
    if (errno != EEXIST) break;
    if (is_nobodys(path) && is_gone(path) && ::mkdir(path.c_str(), 0755) == 0) return path;
    errno = EEXIST;
  }
  return system_error("cannot make the control group " + path.string());
}

}  // namespace

Result<ControlGroup> ControlGroup::make(const fs::path& folder, std::uint32_t session) {
  FAIRGV_TRY(made, make_folder(folder, session));
  const fs::path path = std::move(made).value();
  ControlGroup group(path, UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  // cgroup.kill came with Linux 5.14.
  if (!group.fd_ || ::flock(group.fd(), LOCK_EX | LOCK_NB) != 0 ||
      ::faccessat(group.fd(), "cgroup.kill", W_OK, 0) != 0) {
    const Error error = system_error("cannot use the control group " + path.string());
    if (!group.fd_) static_cast<void>(is_gone(path));
    return error;
  }
  return group;
}

Result<ControlGroup> ControlGroup::adopt(fs::path path, UniqueFd fd) {
  struct stat named {};
  struct stat held {};
  if (::stat(path.c_str(), &named) != 0 || ::fstat(fd.get(), &held) != 0 || named.st_dev != held.st_dev ||
      named.st_ino != held.st_ino) {
    return Error{"there is no control group " + path.string() + " any more"};
  }
  return ControlGroup(std::move(path), std::move(fd));
}

ControlGroup::~ControlGroup() {
  if (!fd_) return;
  kill();
  static_cast<void>(remove());
}

UniqueFd ControlGroup::entrance() const {
  return UniqueFd(::openat(fd_.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
}

void ControlGroup::kill() const {
  const UniqueFd file(::openat(fd_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  [[maybe_unused]] const ssize_t written = ::write(file.get(), "1", 1);
}

std::optional<std::chrono::nanoseconds> ControlGroup::processor_time() const {
  if (last_) return last_;
  constexpr std::string_view kKey = "usage_usec ";
  std::array<char, 1024> text{};
  const UniqueFd file(::openat(fd_.get(), "cpu.stat", O_RDONLY | O_CLOEXEC));
  const ssize_t length = file ? ::pread(file.get(), text.data(), text.size(), 0) : -1;
  const std::string_view all(text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  const std::size_t at = all.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t microseconds = 0;
  const auto [rest, error] =
      std::from_chars(all.data() + at + kKey.size(), all.data() + all.size(), microseconds);
  if (error != std::errc()) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

bool ControlGroup::remove() {
  auto last = processor_time();
  if (!is_gone(path_)) return false;
  last_ = last;
  fd_.reset();
  return true;
}

std::optional<fs::path> control_group_folder(std::string_view mounts, std::string_view own) {
  const auto found = control_group_folder(mounts, own, "");
  return found ? std::optional(found->group) : std::nullopt;
}

const std::optional<fs::path>& control_group_folder() {
  static const std::optional<fs::path> folder = find_folder();
  return folder;
}

void clear_left_over_groups(const fs::path& folder) {
  for (const fs::path& path : left_over_in(folder)) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    auto group = ControlGroup::adopt(path, std::move(fd));
    if (!group) continue;
    group->kill();
    if (!group->remove()) {
      spdlog::warn(
          "processes of an earlier daemon's worker in {} end slowly: it is removed when a daemon "
          "starts next",
          path.string());
    }
  }
}

}  // namespace fairgv::daemon
