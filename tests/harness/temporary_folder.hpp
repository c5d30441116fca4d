// A folder that lives as long as a test, or an experiment.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/result.hpp"

namespace fairgv::harness {

/// Under TMPDIR, or /tmp; removed with all that is in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code error;
    std::string name = std::filesystem::temp_directory_path(error) / "fairgv-test-XXXXXX";
    if (error) return Error{"no folder for temporary files (TMPDIR): " + error.message()};
    if (::mkdtemp(name.data()) == nullptr) return system_error("cannot make a temporary folder " + name);
    return TemporaryFolder(std::filesystem::path(name));
  }
  /// For tests, which end with the exception if there can be none.
  TemporaryFolder() : TemporaryFolder(made_or_thrown()) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  /// Empty once moved from.
  const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

  static TemporaryFolder made_or_thrown() {
    auto made = make();
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(made).value();
  }

  std::filesystem::path path_;
};

}  // namespace fairgv::harness
