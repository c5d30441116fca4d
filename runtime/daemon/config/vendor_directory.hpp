// A folder of OpenCL vendor files (*.icd) for the workers: the system's, without FairGV's own. A worker that
// loaded our front end would be its own client.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// Whether FairGV's front end is among the vendor files of this folder.
bool has_front_end(const std::filesystem::path& system);

class VendorDirectory {
 public:
  /// Makes `path` and fills it from `system`; anything else that an earlier daemon left there is removed.
  /// Fails if somebody else has made it, or may write to it: workers load its contents. A missing `system`
  /// folder makes an empty one: workers then report that there is no platform.
  static Result<VendorDirectory> create(const std::filesystem::path& path,
                                        const std::filesystem::path& system);
  ~VendorDirectory();
  VendorDirectory(VendorDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), drivers_(std::move(other.drivers_)) {}
  VendorDirectory& operator=(VendorDirectory&&) = delete;

  /// Looks again at the system's folder, which may be another one now. A worker may read ours meanwhile:
  /// files that stay are there all the time.
  Result<void> refresh(const std::filesystem::path& system);

  const std::filesystem::path& path() const { return path_; }
  /// The libraries that the files name.
  const std::vector<std::string>& drivers() const { return drivers_; }

 private:
  explicit VendorDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  Result<void> link(const std::filesystem::path& file);

  std::filesystem::path path_;
  std::vector<std::string> drivers_;
};

}  // namespace fairgv::daemon
