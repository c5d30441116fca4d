// The configuration as text: the values that hold, the defaults, the manual's list of options, and the
// changes of a new configuration. All of it goes by the table of options (config/options.hpp).
#pragma once

#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"

namespace fairgv::daemon {

/// TOML that read_config() reads as the same configuration, with a comment behind each value that says where
/// it comes from.
std::string to_toml(const Config& config);

/// A configuration that has every option with its default and what it means, for an administrator to start
/// from.
std::string default_toml();

/// The options as fairgvd.toml(5) lists them, in Markdown.
std::string options_manual();

/// Options that differ, as people name them: "[device] slice_ms".
struct ConfigChanges {
  std::vector<std::string> at_once;
  std::vector<std::string> new_programs;
  std::vector<std::string> restart;
};
ConfigChanges changes_between(const Config& before, const Config& after);

}  // namespace fairgv::daemon
