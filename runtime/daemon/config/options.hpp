// The table of all options of the daemon's configuration. A key without a row here is unknown.
//
// A new option is a row in a file of config/options/; a new section is a row of single_sections(), and a line
// of the manual's prose if it needs one. Then write the manual anew (tests/unit/daemon/config/manual_test.cpp).
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/config/option.hpp"

namespace fairgv::daemon {

/// A section that a file has once at most: [daemon].
struct SingleSection {
  const char* name;
  const char* doc;
  ConfigOptions<Config> options;
};

const std::vector<SingleSection>& single_sections();
/// [device.N]. All keys but `same_as` are rows of [device], too.
const ConfigOptions<DeviceRule>& device_options();
/// [tenant."NAME"]
const ConfigOptions<TenantRule>& tenant_options();
/// [class."NAME"]. The keys are rows of [tenant."NAME"], too.
const ConfigOptions<TenantRule>& class_options();
/// [[match]]
const ConfigOptions<MatchRule>& match_options();

/// Sections that there may be several of.
inline constexpr const char* kDeviceSection = "device";
inline constexpr const char* kTenantSection = "tenant";
inline constexpr const char* kClassSection = "class";
inline constexpr const char* kMatchSection = "match";

std::string device_title(std::uint32_t index);
std::string tenant_title(const std::string& name);
std::string class_title(const std::string& name);
/// From 0.
std::string match_title(std::size_t index);

}  // namespace fairgv::daemon
