// The machine as the checks see it. Everything that they read starts here, so that a test can prepare another
// one in a folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tools/fairgv/doctor/library_probe.hpp"

namespace fairgv::tools::doctor {

struct Machine {
  std::filesystem::path root = "/";  // /etc, /dev, /proc and /sys are looked for below it
  std::map<std::string, std::string> environment{};
  uid_t user = 0;                    // the caller
  std::filesystem::path programs{};  // where fairgv, fairgvd and fairgv-vgpu lie, also below root
  std::function<OpenedLibrary(const std::string&)> open_library = doctor::open_library;

  /// This machine, this process' environment and user.
  static Machine here();

  /// The real place of `path`, which is written as this machine's programs see it. A relative path is left
  /// alone.
  std::filesystem::path at(const std::filesystem::path& path) const {
    return path.is_absolute() ? root / path.relative_path() : path;
  }
  /// A small file's text without its last line feed; none if it cannot be read.
  std::optional<std::string> text(const std::filesystem::path& path) const;
  /// Empty if it is not set.
  std::string variable(const std::string& name) const;
};

}  // namespace fairgv::tools::doctor
