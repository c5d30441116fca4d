#include "runtime/daemon/cage/mounts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

namespace fairgv::daemon {
namespace {

using Kind = Place::Kind;

/// Where the new root is put together: any folder does, since everything was opened before.
constexpr const char* kWorkshop = "/tmp";

/// The size bounds a worker's temporary files, which are memory.
constexpr const char* kTemporary = "mode=1777,size=256m";

/// Mounts of these would show control interfaces of the kernel: cgroups, tracing.
bool without_what_is_mounted_inside(std::string_view path) {
  return path == "/sys" || path == "/proc";
}

std::uint64_t attributes(Kind kind) {
  switch (kind) {
    case Kind::writable:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case Kind::device:
      return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
             MOUNT_ATTR_NOEXEC;  // devices can be written to all the same
    default:
      return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  }
}

/// A copy of the mount at the place, attached nowhere; -1 with errno.
int open_place(const Place& place) {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  if (!without_what_is_mounted_inside(place.path)) flags |= AT_RECURSIVE;
  const int tree = ::open_tree(AT_FDCWD, place.path.c_str(), flags);
  mount_attr attr{};
  attr.attr_set = attributes(place.kind);
  if (tree < 0 || ::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0)
    return tree;
  ::close(tree);
  return -1;
}

/// The path from the new root, which is the working folder.
const char* in_new_root(const Place& place) {
  return place.path.c_str() + 1;
}

/// Makes the folders that lead to the place, and a folder or file to mount on. Existing ones are fine.
bool make_mount_point(const Place& place) {
  const char* const path = in_new_root(place);
  std::array<char, PATH_MAX> part{};
  for (std::size_t length = 0; path[length] != '\0' && length + 1 < part.size(); ++length) {
    if (path[length] == '/' && ::mkdir(part.data(), 0755) != 0 && errno != EEXIST) return false;
    part[length] = path[length];
  }
  if (place.kind == Kind::link) return true;
  if (place.folder) return ::mkdir(path, 0755) == 0 || errno == EEXIST;
  const int file = ::open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0644);
  if (file >= 0) ::close(file);
  return file >= 0;
}

/// Only number 1's threads can be written to: naming a thread writes there.
bool put_processes(const Place& place) {
  const char* const path = in_new_root(place);
  if (::mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) return false;
  const int proc = ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int threads = ::open_tree(proc, "self/task", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  mount_attr closed{};
  closed.attr_set = MOUNT_ATTR_RDONLY;
  const bool done = proc >= 0 && threads >= 0 &&
                    ::mount_setattr(proc, "", AT_EMPTY_PATH, &closed, sizeof(closed)) == 0 &&
                    ::move_mount(threads, "", proc, "self/task", MOVE_MOUNT_F_EMPTY_PATH) == 0;
  const int code = errno;
  if (proc >= 0) ::close(proc);
  if (threads >= 0) ::close(threads);
  errno = code;
  return done;
}

bool put(const Place& place, int tree) {
  switch (place.kind) {
    case Kind::processes:
      return put_processes(place);
    case Kind::link:
      return ::symlink(place.target.c_str(), in_new_root(place)) == 0 || errno == EEXIST;
    case Kind::temporary:
      return ::mount("tmpfs", in_new_root(place), "tmpfs", MS_NOSUID | MS_NODEV, kTemporary) == 0;
    default:
      return ::move_mount(tree, "", AT_FDCWD, in_new_root(place), MOVE_MOUNT_F_EMPTY_PATH) == 0;
  }
}

void change_root(const StartFailure& failure) {
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  if (::mount_setattr(AT_FDCWD, ".", 0, &read_only, sizeof(read_only)) != 0) {
    failure.give_up("protect its root folder");
  }
  // The old root lies over the new one for a moment (pivot_root(2), notes).
  if (::syscall(SYS_pivot_root, ".", ".") != 0 || ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
    failure.give_up("change its root folder");
  }
}

}  // namespace

void enter_view(const WorkerView& view, const StartFailure& failure) {
  constexpr const char* kAdvice = "(mount_view = \"shared\" in [worker] does without)";
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET) != 0) {
    failure.give_up("leave the system's namespaces", kAdvice);
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    failure.give_up("make its mounts its own", kAdvice);
  }
  std::array<int, kMostPlaces> trees{};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Place& place = view[i];
    if (place.kind == Kind::link || place.kind == Kind::temporary || place.kind == Kind::processes) continue;
    trees.at(i) = open_place(place);
    if (trees.at(i) < 0) failure.give_up("be shown", place.path.c_str());
  }
  if (::mount("tmpfs", kWorkshop, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0 ||
      ::chdir(kWorkshop) != 0) {
    failure.give_up("mount its root folder");
  }
  ::umask(0);
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!make_mount_point(view[i]) || !put(view[i], trees.at(i))) {
      failure.give_up("be shown", view[i].path.c_str());
    }
    if (trees.at(i) > 0) ::close(trees.at(i));
  }
  change_root(failure);
  ::umask(022);
}

}  // namespace fairgv::daemon
