#include "runtime/daemon/config/vendor_directory.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "runtime/session/own_files.hpp"
#include "runtime/session/vendor_file.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

bool is_ours(const std::string& library) {
  return fs::path(library).filename().string().starts_with("libfairgv-opencl");
}

Error failure(const std::string& what, const std::error_code& code) {
  return Error{what + ": " + code.message()};
}

}  // namespace

bool has_front_end(const fs::path& system) {
  std::error_code code;
  const fs::directory_iterator files(system, code);
  return std::any_of(begin(files), end(files),
                     [](const fs::path& file) { return is_ours(session::library_of_vendor_file(file)); });
}

Result<VendorDirectory> VendorDirectory::create(const fs::path& path, const fs::path& system) {
  FAIRGV_TRY(own, session::ensure_own_directory(path, 0755, "remove it, or choose another socket"));
  VendorDirectory directory(path);
  std::error_code code;
  // Workers of any user read it, whatever the umask is.
  fs::permissions(path,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec,
                  code);
  FAIRGV_CHECK(directory.refresh(system));
  return directory;
}

VendorDirectory::~VendorDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<void> VendorDirectory::refresh(const fs::path& system) {
  std::error_code code;
  std::set<fs::path> wanted;
  drivers_.clear();
  for (const fs::path& file : fs::directory_iterator(system, code)) {
    const std::string library = session::library_of_vendor_file(file);
    if (library.empty() || is_ours(library)) continue;
    if (auto linked = link(fs::absolute(file)); !linked) return linked;
    wanted.insert(file.filename());
    drivers_.push_back(library);
  }
  std::sort(drivers_.begin(), drivers_.end());
  for (const fs::path& old : fs::directory_iterator(path_, code)) {
    if (!wanted.contains(old.filename())) fs::remove(old, code);
  }
  return {};
}

Result<void> VendorDirectory::link(const fs::path& file) {
  const fs::path place = path_ / file.filename();
  std::error_code code;
  if (fs::read_symlink(place, code) == file) return {};
  // Renamed into its place: a worker that looks meanwhile finds the one or the other.
  const fs::path made = place.string() + ".new";
  fs::remove(made, code);
  fs::create_symlink(file, made, code);
  if (!code) fs::rename(made, place, code);
  if (code) return failure("cannot link " + file.string() + " into " + path_.string(), code);
  return {};
}

}  // namespace fairgv::daemon
