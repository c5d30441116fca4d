#include "runtime/daemon/cage/landlock.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "runtime/daemon/cage/mounts.hpp"

namespace fairgv::daemon {
namespace {

// Constants newer than the headers of the oldest system that this is built on.
constexpr std::uint64_t kRefer = 1ULL << 13;          // version 2: moving files from folder to folder
constexpr std::uint64_t kTruncate = 1ULL << 14;       // version 3
constexpr std::uint64_t kDeviceControl = 1ULL << 15;  // version 5
constexpr std::uint64_t kTcp = 0b11;                  // version 4: bind, connect
constexpr std::uint64_t kScopes = 0b11;               // version 6: abstract Unix sockets, signals

/// The first version that can be used: the one before forbids to move files from folder to folder, which
/// drivers do in their caches.
constexpr int kFirstVersion = 2;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};

constexpr std::uint64_t kEvery = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // of version 1
constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kUse = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                               LANDLOCK_ACCESS_FS_READ_DIR | kDeviceControl;
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                   LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;

std::uint64_t every_access(int version) {
  std::uint64_t files = kEvery | kRefer;
  if (version >= 3) files |= kTruncate;
  if (version >= 5) files |= kDeviceControl;
  return files;
}

/// Gives up the rights in `files`, and all other rights that the version knows.
Ruleset ruleset_of(std::uint64_t files, int version) {
  return {files, version >= 4 ? kTcp : 0, version >= 6 ? kScopes : 0};
}

/// How much of Ruleset the kernel knows: it refuses more.
std::size_t bytes_of(int version) {
  if (version >= 6) return sizeof(Ruleset);
  return version >= 4 ? offsetof(Ruleset, scopes) : offsetof(Ruleset, network);
}

int make_ruleset(const Ruleset& rules, int version, const StartFailure& failure) {
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, bytes_of(version), 0));
  if (ruleset < 0) failure.give_up("make Landlock rules");
  return ruleset;
}

void enforce(int ruleset, const StartFailure& failure) {
  if (::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) failure.give_up("confine itself by Landlock");
  ::close(ruleset);
}

std::uint64_t access_to(const Place& place) {
  switch (place.kind) {
    case Place::Kind::writable:
      return ~std::uint64_t{0};
    case Place::Kind::device:
      return kUse;
    default:
      return kRead;
  }
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version >= kFirstVersion ? static_cast<int>(version) : 0;
}

void keep_off_others(const StartFailure& failure) {
  const int version = landlock_version();
  // Some access to files must be named; nobody here makes device files. And every ruleset forbids to move
  // files from folder to folder unless it says otherwise.
  const Ruleset rules =
      ruleset_of(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | kRefer, version);
  const int ruleset = make_ruleset(rules, version, failure);
  const int root = ::open("/", O_PATH | O_CLOEXEC);
  const landlock_path_beneath_attr rule{kRefer, root};
  if (root < 0 || ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    failure.give_up("keep the right to move files");
  }
  ::close(root);
  enforce(ruleset, failure);
}

void confine_to(const WorkerView& view, const StartFailure& failure) {
  const int version = landlock_version();
  const Ruleset rules = ruleset_of(every_access(version), version);
  const int ruleset = make_ruleset(rules, version, failure);
  for (const Place& place : view) {
    if (place.kind == Place::Kind::link || place.kind == Place::Kind::temporary) continue;
    const int fd = ::open(place.path.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) failure.give_up("be shown", place.path.c_str());
    const std::uint64_t possible = place.folder ? rules.files : rules.files & kOfFiles;
    const landlock_path_beneath_attr rule{access_to(place) & possible, fd};
    if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
      failure.give_up("be shown", place.path.c_str());
    }
    ::close(fd);
  }
  enforce(ruleset, failure);
}

}  // namespace fairgv::daemon
