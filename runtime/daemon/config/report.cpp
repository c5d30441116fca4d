#include "runtime/daemon/config/report.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "runtime/daemon/config/options.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::size_t kPageWidth = 120;
constexpr std::size_t kFileWidth = 100;

/// Breaks text at spaces; lines after the first begin with `indent`.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::istringstream words(text);
  std::string page, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      page += line + '\n';
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return page + line + '\n';
}

std::string header(const std::string& name) {
  return "[" + name + "]";
}

const char* words_of(Applies applies) {
  switch (applies) {
    case Applies::at_once:
      return "at once";
    case Applies::new_programs:
      return "for programs that start afterwards";
    case Applies::restart:
      break;
  }
  return "once the daemon is stopped and started";
}

/// The value that holds when no file says anything; empty if there is none to show.
template <class Rule>
std::string default_of(const ConfigOption<Rule>& option) {
  const auto value = option.access.get(Rule());
  return value ? to_toml(*value, option.facts.type) : "";
}

// ---- the values that hold

template <class Rule>
void write_values(std::string& text, const ConfigOptions<Rule>& options, const std::string& title,
                  const Rule& rule, const Config& config, const std::string& otherwise) {
  for (const ConfigOption<Rule>& option : options) {
    const auto value = option.access.get(rule);
    if (!value) continue;
    const auto origin = config.origins.find(title + " " + option.facts.key);
    const std::string from = origin == config.origins.end() ? otherwise : origin->second;
    text += std::string(option.facts.key) + " = " + to_toml(*value, option.facts.type) +
            (from.empty() ? "" : "  # " + from) + '\n';
  }
}

template <class Rule>
void write_table(std::string& text, const ConfigOptions<Rule>& options, const std::string& title,
                 const Rule& rule, const Config& config, const std::string& otherwise) {
  text += '\n' + title + '\n';
  write_values(text, options, title, rule, config, otherwise);
}

// ---- the defaults

template <class Rule>
void write_default(std::string& text, const ConfigOption<Rule>& option, bool commented) {
  const OptionFacts& facts = option.facts;
  std::string type = expected(facts.type);
  type[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(type[0])));
  if (*facts.unit != '\0') type += std::string(", in ") + facts.unit;
  const std::string value = default_of(option);
  text += "\n# " + wrapped(std::string(facts.doc) + " " + type + ".", kFileWidth, "# ");
  if (value.empty()) {
    text += "# " + wrapped(std::string("Without it: ") + facts.unset + ".", kFileWidth, "# ");
  }
  text += (commented || value.empty() ? "#" : "") + std::string(facts.key) + " =" +
          (value.empty() ? "" : " " + value) + '\n';
}

template <class Rule>
void write_commented(std::string& text, const std::string& title, const std::string& doc,
                     const ConfigOptions<Rule>& options) {
  text += "\n\n# " + wrapped(doc, kFileWidth, "# ") + '#' + title + '\n';
  for (const ConfigOption<Rule>& option : options) write_default(text, option, true);
}

// ---- the manual

template <class Rule>
void write_manual(std::string& page, const std::string& title, const std::string& doc,
                  const ConfigOptions<Rule>& options) {
  page += "### " + title + "\n\n" + wrapped(doc, kPageWidth, "") + '\n';
  for (const ConfigOption<Rule>& option : options) {
    const OptionFacts& facts = option.facts;
    const std::string value = default_of(option);
    std::string item =
        "- `" + std::string(facts.key) + "`: " + facts.doc + " *Value*: " + expected(facts.type);
    if (*facts.unit != '\0') item += std::string(", in ") + facts.unit;
    item += ". *Default*: " + (value.empty() ? facts.unset : "`" + value + "`") + ". *Holds* " +
            words_of(facts.applies) + ".";
    page += wrapped(item, kPageWidth, "  ");
  }
  page += '\n';
}

/// A section whose options another section has described.
template <class Rule>
void write_reference(std::string& page, const std::string& title, const std::string& doc,
                     const ConfigOptions<Rule>& options) {
  std::string keys;
  for (const ConfigOption<Rule>& option : options) {
    keys += (keys.empty() ? "`" : ", `") + std::string(option.facts.key) + "`";
  }
  page += "### " + title + "\n\n" + wrapped(doc + " Keys: " + keys + ".", kPageWidth, "") + '\n';
}

constexpr const char* kDeviceDoc =
    "Device N of `fairgv ps` only, from 0 to 62. What is left out is as in [device]. `same_as` (see Several "
    "drivers), `speed` and `bandwidth` (see Several devices) are of one device only.";
constexpr const char* kTenantDoc =
    "One tenant. NAME is 1 to 64 of `A-Z a-z 0-9 _ . @ -`, in quotes if it has a dot or an @.";
constexpr const char* kClassDoc =
    "What tenants have in common that name the class, or get it by [[match]]. A value of the tenant's own "
    "table "
    "goes before it.";
constexpr const char* kMatchDoc =
    "Which programs belong to a tenant by what the kernel says of their process, in as many tables as there "
    "are "
    "rules. The first one all of whose conditions hold decides (see Who is which tenant). Rules of drop-in "
    "files "
    "come after those of the files before.";

/// [[match]] is written without a number: its place shows which one it is.
std::string shown(const std::string& title) {
  return title.starts_with("[[") ? "[[match]]" : title;
}

// ---- differences

template <class Rule>
void compare(ConfigChanges& changes, const ConfigOptions<Rule>& options, const std::string& title,
             const Rule& before, const Rule& after) {
  for (const ConfigOption<Rule>& option : options) {
    if (option.access.get(before) == option.access.get(after)) continue;
    auto& list = option.facts.applies == Applies::at_once        ? changes.at_once
                 : option.facts.applies == Applies::new_programs ? changes.new_programs
                                                                 : changes.restart;
    list.push_back(title + " " + option.facts.key);
  }
}

using RulesByName = std::map<std::string, TenantRule>;

void compare_named(ConfigChanges& changes, const ConfigOptions<TenantRule>& options,
                   std::string (*title)(const std::string&), const RulesByName& before,
                   const RulesByName& after) {
  std::set<std::string> names;
  for (const RulesByName* rules : {&before, &after}) {
    for (const auto& [name, rule] : *rules) names.insert(name);
  }
  const auto rule_of = [](const RulesByName& rules, const std::string& name) {
    const auto found = rules.find(name);
    return found == rules.end() ? TenantRule() : found->second;
  };
  for (const std::string& name : names) {
    compare(changes, options, title(name), rule_of(before, name), rule_of(after, name));
  }
}

}  // namespace

std::string to_toml(const Config& config) {
  std::string text;
  for (const SingleSection& section : single_sections()) {
    write_table(text, section.options, header(section.name), config, config, "default");
  }
  for (const auto& [index, rule] : config.devices.by_index) {
    write_table(text, device_options(), device_title(index), rule, config, "as in [device]");
  }
  for (const auto& [name, rule] : config.tenants.classes) {
    write_table(text, class_options(), class_title(name), rule, config, "");
  }
  for (const auto& [name, rule] : config.tenants.by_name) {
    write_table(text, tenant_options(), tenant_title(name), rule, config, "");
  }
  for (std::size_t i = 0; i < config.tenants.matches.size(); ++i) {
    text += '\n' + shown(match_title(i)) + '\n';
    write_values(text, match_options(), match_title(i), config.tenants.matches[i], config, "");
  }
  return text.substr(1);
}

std::string default_toml() {
  std::string text =
      "# The configuration of fairgvd: every option with its default. See fairgvd.toml(5); check it with\n"
      "# 'fairgv config check'.\n";
  for (const SingleSection& section : single_sections()) {
    text += "\n\n# " + std::string(section.doc) + '\n' + header(section.name) + '\n';
    for (const auto& option : section.options) write_default(text, option, false);
  }
  write_commented(text, "[device.N]", kDeviceDoc, device_options());
  write_commented(text, "[class.\"NAME\"]", kClassDoc, class_options());
  write_commented(text, "[tenant.\"NAME\"]", kTenantDoc, tenant_options());
  write_commented(text, "[[match]]", kMatchDoc, match_options());
  return text;
}

std::string options_manual() {
  std::string page;
  for (const SingleSection& section : single_sections()) {
    write_manual(page, header(section.name), section.doc, section.options);
  }
  write_reference(page, "[device.N]", kDeviceDoc, device_options());
  write_manual(page, "[tenant.\"NAME\"]", kTenantDoc, tenant_options());
  write_reference(page, "[class.\"NAME\"]", kClassDoc, class_options());
  write_manual(page, "[[match]]", kMatchDoc, match_options());
  return page;
}

ConfigChanges changes_between(const Config& before, const Config& after) {
  ConfigChanges changes;
  for (const SingleSection& section : single_sections()) {
    compare(changes, section.options, header(section.name), before, after);
  }
  const TimeGraphRules& old_spec = before.tenants.timegraph;
  const TimeGraphRules& new_spec = after.tenants.timegraph;
  if (old_spec.spec == new_spec.spec && old_spec.tasks != new_spec.tasks) {
    changes.at_once.push_back("[timegraph] spec");  // the file has changed, and its name has not
  }
  std::set<std::uint32_t> devices;
  for (const Config* config : {&before, &after}) {
    for (const auto& [index, rule] : config->devices.by_index) devices.insert(index);
  }
  for (const std::uint32_t index : devices) {
    compare(changes, device_options(), device_title(index), before.devices.of(index),
            after.devices.of(index));
  }
  compare_named(changes, class_options(), class_title, before.tenants.classes, after.tenants.classes);
  compare_named(changes, tenant_options(), tenant_title, before.tenants.by_name, after.tenants.by_name);
  const auto& old_rules = before.tenants.matches;
  const auto& new_rules = after.tenants.matches;
  for (std::size_t i = 0; i < std::max(old_rules.size(), new_rules.size()); ++i) {
    compare(changes, match_options(), match_title(i), i < old_rules.size() ? old_rules[i] : MatchRule(),
            i < new_rules.size() ? new_rules[i] : MatchRule());
  }
  return changes;
}

}  // namespace fairgv::daemon
