#include "tools/fairgv/doctor/device_files.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>

namespace fairgv::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 0777;

struct Pattern {
  DeviceKind kind;
  const char* folder;
  const char* prefix;
};
constexpr Pattern kPatterns[] = {{DeviceKind::nvidia, "/dev", "nvidia"},
                                 {DeviceKind::dri, "/dev/dri", "render"},
                                 {DeviceKind::kfd, "/dev", "kfd"},
                                 {DeviceKind::accel, "/dev", "accel"},
                                 {DeviceKind::accel, "/dev/accel", "accel"}};

std::vector<std::string> paths_of(const Machine& machine, const Pattern& pattern) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const fs::path& file : fs::directory_iterator(machine.at(pattern.folder), ignored)) {
    const std::string name = file.filename();
    if (name.starts_with(pattern.prefix)) paths.push_back(fs::path(pattern.folder) / name);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool same_rights(const DeviceFiles& a, const DeviceFiles& b) {
  return a.kind == b.kind && a.mode == b.mode && a.user == b.user && a.group == b.group &&
         a.has_acl == b.has_acl;
}

}  // namespace

std::vector<DeviceFiles> device_files(const Machine& machine) {
  std::vector<DeviceFiles> found;
  for (const Pattern& pattern : kPatterns) {
    for (const std::string& path : paths_of(machine, pattern)) {
      const fs::path real = machine.at(path);
      struct stat status {};
      if (::stat(real.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) continue;
      const bool has_acl = ::getxattr(real.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
      DeviceFiles files{pattern.kind,  {path},        status.st_mode & kPermissions,
                        status.st_uid, status.st_gid, has_acl};
      const auto same = std::find_if(found.begin(), found.end(),
                                     [&](const DeviceFiles& other) { return same_rights(other, files); });
      if (same == found.end()) {
        found.push_back(std::move(files));
      } else {
        same->paths.push_back(path);
      }
    }
  }
  return found;
}

}  // namespace fairgv::tools::doctor
