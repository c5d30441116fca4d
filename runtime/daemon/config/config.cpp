#include "runtime/daemon/config/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runtime/daemon/config/contradictions.hpp"
#include "runtime/daemon/config/folders.hpp"
#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/settings.hpp"
#include "runtime/daemon/config/values/memory.hpp"
#include "runtime/daemon/config/values/timegraph_spec.hpp"
#include "runtime/session/paths.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

/// Puts a section's values into its rule, in the order of the options.
template <class Rule>
void apply(const ConfigOptions<Rule>& options, const std::string& title, const SectionSettings& section,
           Rule& rule, Config& config, ConfigErrors& errors) {
  for (const ConfigOption<Rule>& option : options) {
    const auto found = section.values.find(option.facts.key);
    if (found == section.values.end()) continue;
    const ConfigPlace& place = found->second.place;
    const std::string name = std::string(option.facts.key) + " in " + title;
    if (const std::string complaint = option.access.set(rule, found->second.value); !complaint.empty()) {
      errors.add(place, name + ": " + complaint);
    }
    config.origins[title + " " + option.facts.key] = place.path + ":" + std::to_string(place.line);
  }
}

void apply_all(const Settings& settings, Config& config, ConfigErrors& errors) {
  for (const SingleSection& section : single_sections()) {
    const auto found = settings.sections.find(section.name);
    if (found == settings.sections.end()) continue;
    apply(section.options, "[" + std::string(section.name) + "]", found->second, config, config, errors);
  }
  for (const auto& [index, section] : settings.devices) {
    DeviceRule& rule = config.devices.by_index[index] = config.devices.common;
    apply(device_options(), device_title(index), section, rule, config, errors);
  }
  for (const auto& [name, section] : settings.classes) {
    apply(class_options(), class_title(name), section, config.tenants.classes[name], config, errors);
  }
  for (const auto& [name, section] : settings.tenants) {
    apply(tenant_options(), tenant_title(name), section, config.tenants.by_name[name], config, errors);
  }
  for (std::size_t i = 0; i < settings.matches.size(); ++i) {
    const SectionSettings& section = settings.matches[i];
    MatchRule& rule = config.tenants.matches.emplace_back();
    apply(match_options(), match_title(i), section, rule, config, errors);
    rule.place = section.place.path + ":" + std::to_string(section.place.line);
  }
}

std::string drop_in_folder(const std::string& path) {
  return path + ".d";
}

/// The drop-in files, in the order of their names.
Result<std::vector<std::string>> drop_ins(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  const fs::path folder = drop_in_folder(path);
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename();
    if (!name.starts_with('.') && each->path().extension() == ".toml") files.push_back(each->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Error{"cannot read the folder " + folder.string() + ": " + error.message()};
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Settings that the first rule lacks come from the second.
TenantRule filled_up(TenantRule rule, const TenantRule& from) {
  if (!rule.weight && !rule.max_weight) rule.weight = from.weight;
  if (!rule.max_weight) rule.max_weight = from.max_weight;
  if (!rule.min && !rule.allow_min) rule.min = from.min;
  if (!rule.max) rule.max = from.max;
  if (!rule.service) rule.service = from.service;
  if (!rule.allow_min) rule.allow_min = from.allow_min;
  if (!rule.memory) rule.memory = from.memory;
  if (!rule.devices) rule.devices = from.devices;
  if (!rule.expected_memory) rule.expected_memory = from.expected_memory;
  if (!rule.units) rule.units = from.units;
  if (!rule.target) rule.target = from.target;
  if (!rule.direct) rule.direct = from.direct;
  if (!rule.session_limit) rule.session_limit = from.session_limit;
  return rule;
}

/// Reads the texts and finds every mistake in them. Mistakes about the machine's file systems are
/// check_folders()'s.
Config parse(const std::vector<ConfigText>& texts, Settings& settings, ConfigErrors& errors) {
  for (const ConfigText& text : texts) read_settings(text, settings, errors);
  Config config;
  apply_all(settings, config, errors);
  check_contradictions(config, settings, errors);
  check_memory(config, settings, errors);
  return config;
}

}  // namespace

const DeviceRule& DeviceRules::of(std::uint32_t device) const {
  const auto found = by_index.find(device);
  return found == by_index.end() ? common : found->second;
}

TenantRule TenantRules::of(const std::string& name, const std::string& class_name) const {
  const auto found = by_name.find(name);
  const TenantRule own = found == by_name.end() ? TenantRule() : found->second;
  const std::string& wanted = own.class_name.empty() ? class_name : own.class_name;
  const auto of_class = classes.find(wanted);
  if (of_class != classes.end()) return filled_up(own, of_class->second);
  if (wanted.empty()) return own;
  // The classes of service need no table.
  const auto service = session::parse_service(wanted, "");
  return service ? filled_up(own, TenantRule{.service = service.value()}) : own;
}

bool TenantRules::choose_devices() const {
  const auto chooses = [](const auto& entry) { return entry.second.devices && !entry.second.devices->all(); };
  return !devices.all() || std::any_of(by_name.begin(), by_name.end(), chooses) ||
         std::any_of(classes.begin(), classes.end(), chooses);
}

Result<Config> parse_config(const std::vector<ConfigText>& texts) {
  ConfigErrors errors;
  Settings settings;
  Config config = parse(texts, settings, errors);
  if (!errors.empty()) return errors.all();
  return config;
}

Result<Config> parse_config(const std::string& text, const std::string& path) {
  return parse_config(std::vector<ConfigText>{{path, text}});
}

std::optional<std::string> default_config_path() {
  const std::string path = session::default_config_path();
  std::error_code ignored;
  if (path.empty() || !(fs::exists(path, ignored) || fs::exists(drop_in_folder(path), ignored))) {
    return std::nullopt;
  }
  return path;
}

Result<Config> read_config(const std::string& path) {
  ConfigErrors errors;
  Settings settings;
  std::vector<ConfigText> texts;
  const auto take = [&](const std::string& file) {
    auto text = read_file(file, "the configuration");
    if (text) {
      texts.push_back(std::move(text).value());
    } else {
      settings.unread = true;
      errors.add(text.error().message);
    }
  };
  std::error_code ignored;
  // A package may leave it to the drop-in files.
  if (path != session::default_config_path() || fs::exists(path, ignored)) take(path);
  const auto more = drop_ins(path);
  settings.unread = settings.unread || !more;
  if (!more) errors.add(more.error().message);
  if (more) std::for_each(more->begin(), more->end(), take);
  Config config = parse(texts, settings, errors);
  read_timegraph_spec(config, settings, errors);
  check_folders(config, settings, errors);
  if (!errors.empty()) return errors.all();
  return config;
}

std::vector<std::string> lines_of(const Error& error) {
  std::vector<std::string> lines;
  std::istringstream text(error.message);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace fairgv::daemon
