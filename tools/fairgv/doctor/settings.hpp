// What the checks need to know of the daemon's configuration (docs/man/fairgvd.toml.5.md).
//
// Whether the file is right only the daemon says; here a key that cannot be read has its default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/fairgv/doctor/machine.hpp"

namespace fairgv::tools::doctor {

struct Settings {
  std::optional<std::string> socket{};
  std::uint32_t session_limit = 256;
  std::string vendors = "/etc/OpenCL/vendors";
  std::string cores{};  // of a CPU device; empty: anywhere
};

/// The file and its drop-in files.
Settings read_settings(const std::filesystem::path& file);

/// What fairgvd says against the configuration in this file, or without one against that which it reads by
/// itself: a line for each mistake; empty if nothing.
std::string daemon_refuses(const Machine& machine, const std::optional<std::string>& file);

}  // namespace fairgv::tools::doctor
