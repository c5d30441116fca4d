#include "runtime/daemon/cage/view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "runtime/base/handle.hpp"
#include "runtime/daemon/cage/landlock.hpp"
#include "runtime/daemon/cage/rights.hpp"
#include "runtime/session/own_files.hpp"
#include "runtime/session/paths.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFolders[] = {"/bin",       "/sbin",      "/lib", "/lib32",
                                          "/lib64",     "/libx32",    "/usr", "/opt",
                                          "/nix/store", "/gnu/store", "/sys", "/run/opengl-driver"};

/// The files of /etc that loaders, the C library and drivers read: not its secrets, which a worker of root
/// could read.
constexpr const char* kSystemFiles[] = {
    "/etc/OpenCL",        "/etc/ld.so.cache",        "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/ld.so.preload", "/etc/alternatives",       "/etc/localtime",  "/etc/passwd",
    "/etc/group",         "/etc/nsswitch.conf",      "/etc/nvidia",     "/etc/vulkan",
    "/etc/drirc",         "/run/nvidia-persistenced"};

/// The worker's own threads in the read-only /proc: naming a thread writes there (pthread_setname_np), and
/// NVIDIA's driver does not start if it cannot. A thread's name is the only useful thing that can be changed
/// there.
constexpr const char* kOwnThreads = "/proc/self/task";

constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

/// Accelerators' files in /dev begin so; their own permissions say who may use them.
constexpr std::string_view kAccelerators[] = {"nvidia", "dri",  "kfd",  "accel",
                                              "dxg",    "mali", "kgsl", "xclmgmt"};

bool lies_in(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

class Plan {
 public:
  void add(Place::Kind kind, const fs::path& wanted) {
    const fs::path path = wanted.lexically_normal();
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (code || !fs::exists(status) || path == "/") return;
    const bool folder = fs::is_directory(status);
    if (folder && kind == Place::Kind::read_only && fs::is_symlink(fs::symlink_status(path, code))) {
      view_.push_back({Place::Kind::link, path, fs::read_symlink(path, code), false});
      return add(kind, fs::canonical(path, code));
    }
    view_.push_back({kind, path, {}, folder});
  }

  WorkerView ordered() && {
    // A path comes after the paths that it begins with. The later of two wishes for one path is the weaker.
    std::stable_sort(view_.begin(), view_.end(),
                     [](const Place& a, const Place& b) { return a.path < b.path; });
    WorkerView result;
    for (Place& place : view_) {
      const auto around = std::find_if(result.rbegin(), result.rend(), [&](const Place& earlier) {
        return earlier.path == place.path || lies_in(place.path, earlier.path);
      });
      const bool is_there = around != result.rend() &&
                            (around->path == place.path ||
                             (around->kind == Place::Kind::read_only && place.kind != Place::Kind::writable));
      if (!is_there) result.push_back(std::move(place));
    }
    return result;
  }

 private:
  WorkerView view_;
};

void add_accelerators(Plan& plan) {
  std::error_code code;
  for (const fs::path& device : fs::directory_iterator("/dev", code)) {
    const std::string name = device.filename();
    const bool known = std::any_of(std::begin(kAccelerators), std::end(kAccelerators),
                                   [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (known) plan.add(Place::Kind::device, device);
  }
}

/// The driver's folder, and the files that known drivers have beside it, where they lie in a folder of their
/// own (an environment of conda's, one of Python's).
void add_driver(Plan& plan, const fs::path& driver) {
  const fs::path folder = driver.parent_path();
  plan.add(Place::Kind::read_only, folder);
  for (const char* data : {"share/pocl", "share/clc"})
    plan.add(Place::Kind::read_only, folder.parent_path() / data);
}

Result<void> make_folder(const fs::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return system_error("cannot make the folder " + path.string());
}

/// Makes the folder `name` in `parent`, or takes the one that is there, and gives it to its user. A link does
/// not count as a folder, and another user's folder stays as it is.
Result<void> give_folder(int parent, const std::string& name, const fs::path& path, uid_t uid, gid_t gid) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("cannot make the folder " + path.string());
  }
  const UniqueFd folder(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!folder || ::fstat(folder.get(), &found) != 0) {
    return system_error("cannot open the folder " + path.string());
  }
  if (found.st_uid != uid && found.st_uid != ::geteuid()) {
    return Error{path.string() + " belongs to user " + std::to_string(found.st_uid) + " and not to user " +
                 name + ": remove it, or choose another cache in [worker]"};
  }
  if (::geteuid() == 0 && ::fchownat(folder.get(), "", uid, gid, AT_EMPTY_PATH) != 0) {
    return system_error("cannot give the folder " + path.string() + " to its user");
  }
  return {};
}

Result<fs::path> default_base() {
  if (::geteuid() == 0) return fs::path("/var/cache/fairgv");
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "fairgv";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "fairgv";
  }
  const fs::path own = session::private_directory();
  FAIRGV_CHECK(session::ensure_private_directory(own));
  return own / "cache";
}

}  // namespace

ViewMeans view_means() {
  if (may_mount()) return ViewMeans::mounts;
  return landlock_version() > 0 ? ViewMeans::landlock : ViewMeans::nothing;
}

WorkerView plan_view(const ViewWishes& wishes) {
  Plan plan;
  for (const char* path : kSystemFolders) plan.add(Place::Kind::read_only, path);
  for (const char* path : kSystemFiles) plan.add(Place::Kind::read_only, path);
  for (const char* path : kDevices) plan.add(Place::Kind::device, path);
  add_accelerators(plan);
  for (const char* path : {"/tmp", "/dev/shm"}) plan.add(Place::Kind::temporary, path);
  if (wishes.own_processes) {
    plan.add(Place::Kind::processes, "/proc");
  } else {
    plan.add(Place::Kind::read_only, "/proc");
    plan.add(Place::Kind::writable, kOwnThreads);
  }
  for (const fs::path& path : {wishes.worker_program, wishes.worker_vendors, wishes.system_vendors}) {
    plan.add(Place::Kind::read_only, path);
  }
  for (const fs::path driver : wishes.drivers) {
    if (driver.is_absolute()) add_driver(plan, driver);
  }
  for (const fs::path& cache : wishes.caches) plan.add(Place::Kind::writable, cache);
  for (const std::string& path : wishes.readable) plan.add(Place::Kind::read_only, path);
  return std::move(plan).ordered();
}

Result<fs::path> worker_cache(const fs::path& base, uid_t uid, gid_t gid) {
  fs::path folder = base;
  if (folder.empty()) {
    FAIRGV_TRY(chosen, default_base());
    folder = chosen.value();
  }
  std::error_code ignored;
  fs::create_directories(folder.parent_path(), ignored);
  // Users reach their own folder in it and cannot list it.
  FAIRGV_CHECK(make_folder(folder, 0711));
  if (::geteuid() == 0) {
    // Root gives away what lies in it.
    auto safe = session::check_folder(folder, session::Neighbours::none);
    if (!safe) return Error{"cannot keep caches in " + folder.string() + ": " + safe.error().message};
  }
  const UniqueFd parent(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return system_error("cannot open the folder " + folder.string());
  const std::string name = std::to_string(uid);
  folder /= name;
  FAIRGV_CHECK(give_folder(parent.get(), name, folder, uid, gid));
  return folder;
}

}  // namespace fairgv::daemon
