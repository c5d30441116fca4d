#include "runtime/daemon/config/folders.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "runtime/daemon/config/values/metrics_address.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

/// Made before the daemon starts, by the program that starts it: systemd's StateDirectory= and tmpfiles.d
/// (tools/packaging/systemd). A configuration may be checked before that.
constexpr const char* kServiceFolders[] = {"/run/fairgv", "/var/lib/fairgv"};

bool is_of_the_service(const fs::path& path) {
  for (const fs::path folder : kServiceFolders) {
    if (path == folder) return true;
  }
  return false;
}

enum class Wanted { folder, anything };

/// The fault of the path, as the text after "KEY in SECTION: "; empty if there is none.
std::string complaint_about(const fs::path& path, Wanted wanted) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (wanted == Wanted::anything || S_ISDIR(found.st_mode)) return "";
    return path.string() + " is no folder: name the folder";
  }
  // Others may check a file in which they may not look at everything.
  if (errno == EACCES && ::geteuid() == 0) {
    return "fairgvd may not look at " + path.string() +
           ": its service's unit hides homes (ProtectHome=), or "
           "others may not enter the folders on the way";
  }
  if ((errno != ENOENT && errno != ENOTDIR) || is_of_the_service(path)) return "";
  if (wanted == Wanted::anything) return "there is no " + path.string() + ": correct it, or leave it out";
  return "there is no folder " + path.string() + ": make it, or name one that is there";
}

class FolderCheck {
 public:
  FolderCheck(const Settings& settings, ConfigErrors& errors) : settings_(settings), errors_(errors) {}

  /// Reports the fault of a path that this option of a file names.
  void look_at(const char* section, const char* key, const fs::path& path, Wanted wanted = Wanted::folder) {
    const auto values = settings_.sections.find(section);
    if (values == settings_.sections.end()) return;
    const auto setting = values->second.values.find(key);
    if (setting == values->second.values.end()) return;
    const std::string complaint = complaint_about(path.lexically_normal(), wanted);
    if (complaint.empty()) return;
    errors_.add(setting->second.place, std::string(key) + " in [" + section + "]: " + complaint);
  }

  /// The same for the folder in which a file is to be made.
  void look_around(const char* section, const char* key, const fs::path& file) {
    if (!file.empty()) look_at(section, key, fs::absolute(file).parent_path());
  }

 private:
  const Settings& settings_;
  ConfigErrors& errors_;
};

}  // namespace

/// Not the cache of [worker]: a missing one is made.
void check_folders(const Config& config, const Settings& settings, ConfigErrors& errors) {
  FolderCheck check(settings, errors);
  check.look_at("opencl", "vendors", config.vendors);
  for (const std::string& folder : config.worker.readable) {
    check.look_at("worker", "readable", folder, Wanted::anything);
  }
  if (config.cuda_library) check.look_at("cuda", "library", *config.cuda_library, Wanted::anything);
  if (config.socket) check.look_around("daemon", "socket", *config.socket);
  check.look_around("usage", "store", config.usage.store);
  const auto metrics = parse_metrics_address(config.metrics.listen);
  if (metrics && !metrics->path.empty()) check.look_around("metrics", "listen", metrics->path);
}

}  // namespace fairgv::daemon
