// The part of the daemon's configuration that the checks need (docs/man/fairgvd.toml.5.md).
//
// Only the daemon can say whether the file is right; here a key that cannot be read has its default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "tools/fairgv/doctor/machine.hpp"

namespace fairgv::tools::doctor {

struct Settings {
  std::optional<std::string> socket{};
  std::uint32_t session_limit = 256;
  std::string vendors = "/etc/OpenCL/vendors";
  std::string cores{};  // of a CPU device; empty: anywhere
  /// The tables that let CUDA programs keep the driver in their own process: "[cuda]", "[tenant.alice]".
  std::set<std::string> direct{};
};

/// The file and its drop-in files.
Settings read_settings(const std::filesystem::path& file);

/// The mistakes that fairgvd finds in the configuration in this file, or without `file` in the configuration
/// that fairgvd reads by itself: a line for each; empty if there is none.
std::string daemon_refuses(const Machine& machine, const std::optional<std::string>& file);

}  // namespace fairgv::tools::doctor
