#include "runtime/daemon/config/contradictions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/near_word.hpp"
#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/promise_sums.hpp"
#include "sched/oversell/controller.hpp"
#include "sched/promises/promises.hpp"

namespace fairgv::daemon {
namespace {

/// The place of the value that a file has given; null if none has.
const ConfigPlace* place_in(const Settings& settings, const char* section, const char* key) {
  const auto found = settings.sections.find(section);
  if (found == settings.sections.end()) return nullptr;
  const auto value = found->second.values.find(key);
  return value == found->second.values.end() ? nullptr : &value->second.place;
}

void check_default_weight(const Config& config, const Settings& settings, ConfigErrors& errors) {
  const TenantRules& rules = config.tenants;
  if (rules.default_weight <= rules.max_weight || !settings.knows({"default_weight", "max_weight"})) return;
  const ConfigPlace* const own = place_in(settings, "tenants", "default_weight");
  errors.add(own != nullptr ? *own : *place_in(settings, "tenants", "max_weight"),
             "default_weight in [tenants] is " + std::to_string(rules.default_weight) +
                 ", larger than max_weight, " + std::to_string(rules.max_weight) +
                 ": lower the one or raise the other");
}

/// Of a tenant or class: programs may ask for no more than [tenants] allows, whatever the rule says.
void check_max_weight(const TenantRule& rule, const std::string& title, const SectionSettings& section,
                      const Config& config, ConfigErrors& errors) {
  if (rule.max_weight.value_or(0) <= config.tenants.max_weight) return;
  errors.add(section.values.at("max_weight").place,
             "max_weight in " + title + " is " + std::to_string(*rule.max_weight) + ", larger than " +
                 std::to_string(config.tenants.max_weight) +
                 ", the max_weight in [tenants], and has no effect: lower the one or raise the other");
}

void check_class(const std::string& name, const std::string& title, const SectionSettings& section,
                 const Config& config, ConfigErrors& errors) {
  if (name.empty() || config.tenants.classes.contains(name)) return;
  if (session::parse_service(name, "")) return;  // the classes of service need no table
  std::vector<std::string> known;
  for (const auto& [each, rule] : config.tenants.classes) known.push_back(each);
  errors.add(section.values.at("class").place, "class in " + title + ": there is no " + class_title(name) +
                                                   ": " + did_you_mean(name, known) +
                                                   "add it, or leave class out");
}

/// A promise must be possible: the guarantee below the ceiling, and all guarantees below the limit.
void check_promise(const std::string& name, const std::string& title, const SectionSettings& section,
                   const Config& config, ConfigErrors& errors) {
  const TenantRule rule = config.tenants.of(name);
  if (!rule.min || !rule.max || rule.min->share() <= *rule.max) return;
  const auto own = section.values.find(section.values.contains("min") ? "min" : "max");
  if (own == section.values.end()) return;  // the class has both, and is told
  errors.add(own->second.place, "min in " + title + " is " + session::to_text(*rule.min) +
                                    ", more than max, " + session::to_text(*rule.max) +
                                    ": lower the one or raise the other");
}

/// A guarantee on the best device is given when its program comes and a device has room for it.
void check_promise_limit(const Config& config, const Settings& settings, ConfigErrors& errors) {
  PromiseSums sums(sched::Promises::kBatchFloor.share());
  for (const auto& [name, section] : settings.tenants) {
    const TenantRule& rule = config.tenants.by_name.at(name);
    const DevicesWanted wanted = config.tenants.devices_of(name);
    if (!rule.min || wanted.best) continue;
    sums.add(rule.min->share(), wanted.devices);
    const sched::Share sum = sums.most(wanted.devices);
    const ConfigPlace* const last = &section.values.at("min").place;
    if (sum <= config.tenants.promise_limit) continue;
    errors.add(*last, "min in " + tenant_title(name) + ": the guarantees add up to " + session::to_text(sum) +
                          " with the floor of the batch class, more than " +
                          session::to_text(config.tenants.promise_limit) +
                          ", the promise_limit in [tenants]: lower them or raise that");
    return;
  }
}

void check_target(const std::string& name, const std::string& title, const SectionSettings& section,
                  const Config& config, ConfigErrors& errors) {
  const TenantRule rule = config.tenants.of(name);
  const bool counts = rule.units && rule.units->kind != session::ServiceUnit::Kind::none;
  if (!rule.target || counts || !section.values.contains("target")) return;
  errors.add(section.values.at("target").place,
             "target in " + title + " is without units: say what counts, as units = \"marks\"");
}

void check_tenants(const Config& config, const Settings& settings, ConfigErrors& errors) {
  const bool weights_known = settings.knows({"max_weight"});
  for (const auto& [name, section] : settings.classes) {
    if (weights_known)
      check_max_weight(config.tenants.classes.at(name), class_title(name), section, config, errors);
  }
  for (const auto& [name, section] : settings.tenants) {
    const TenantRule& rule = config.tenants.by_name.at(name);
    if (weights_known) check_max_weight(rule, tenant_title(name), section, config, errors);
    check_promise(name, tenant_title(name), section, config, errors);
    check_target(name, tenant_title(name), section, config, errors);
    if (!settings.unread) check_class(rule.class_name, tenant_title(name), section, config, errors);
  }
  for (std::size_t i = 0; i < settings.matches.size() && !settings.unread; ++i) {
    check_class(config.tenants.matches[i].class_name, match_title(i), settings.matches[i], config, errors);
  }
  if (!settings.unread) check_promise_limit(config, settings, errors);
}

/// The caps that overselling moves are kept by one policy only.
void check_overselling(const Config& config, const Settings& settings, ConfigErrors& errors) {
  if (!settings.knows({"oversell", "policy"})) return;
  const auto check = [&](const DeviceRule& rule, const ConfigPlace& place, const std::string& title) {
    if (!rule.oversell || rule.policy == sched::oversell::kPolicy) return;
    errors.add(place, "oversell in " + title + " needs policy = \"" + std::string(sched::oversell::kPolicy) +
                          "\", and the policy is \"" + rule.policy + "\"");
  };
  if (const ConfigPlace* const place = place_in(settings, kDeviceSection, "oversell"))
    check(config.devices.common, *place, "[device]");
  for (const auto& [index, rule] : config.devices.by_index) {
    const auto& values = settings.devices.at(index).values;
    const auto own = values.contains("oversell") ? values.find("oversell") : values.find("policy");
    if (own != values.end()) check(rule, own->second.place, device_title(index));
  }
}

void check_kept_sessions(const Config& config, const Settings& settings, ConfigErrors& errors) {
  if (config.kept_sessions.value_or(0) <= config.session_limit) return;
  if (!settings.knows({"kept_sessions", "session_limit"})) return;
  errors.add(*place_in(settings, "daemon", "kept_sessions"),
             "kept_sessions in [daemon] is " + std::to_string(*config.kept_sessions) +
                 ", larger than session_limit, " + std::to_string(config.session_limit) +
                 ": lower the one or raise the other");
}

/// Devices are numbered as they are seen: an earlier device is known when a later one comes.
void check_same_devices(const Config& config, const Settings& settings, ConfigErrors& errors) {
  for (const auto& [index, rule] : config.devices.by_index) {
    if (!rule.same_as || *rule.same_as <= index) continue;
    const std::string other = std::to_string(*rule.same_as);
    errors.add(settings.devices.at(index).values.at("same_as").place,
               "same_as in " + device_title(index) + " must name an earlier device: say same_as = " +
                   std::to_string(index) + " in [device." + other + "] instead");
  }
}

/// Options of a device that name another one.
void check_other_devices(const Config& config, const Settings& settings, ConfigErrors& errors) {
  constexpr std::pair<const char*, std::optional<std::uint32_t> DeviceRule::*> kOptions[] = {
      {"evacuate_to", &DeviceRule::evacuate_to}, {"oversell_move_to", &DeviceRule::oversell_move_to}};
  for (const auto& [index, rule] : config.devices.by_index) {
    const auto& values = settings.devices.at(index).values;
    for (const auto& [name, member] : kOptions) {
      const auto own = values.find(name);
      if (own == values.end() || rule.*member != index) continue;
      errors.add(own->second.place, std::string(name) + " in " + device_title(index) +
                                        " is the device itself: name another one, or leave it out");
    }
  }
}

}  // namespace

void check_contradictions(const Config& config, const Settings& settings, ConfigErrors& errors) {
  check_default_weight(config, settings, errors);
  check_tenants(config, settings, errors);
  check_kept_sessions(config, settings, errors);
  check_same_devices(config, settings, errors);
  check_overselling(config, settings, errors);
  check_other_devices(config, settings, errors);
}

}  // namespace fairgv::daemon
