#include "runtime/daemon/tenants/peers/matching.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/tenant_template.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::size_t kShortId = 12;  // digits, as container engines show them

bool fits(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

bool is_in_cgroup(const std::string& pattern, const std::string& path) {
  return fits(pattern, path) || fits(pattern + "/*", path);
}

bool has_container_id(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool looks_at_cgroup(const MatchRule& rule) {
  return !rule.cgroup.empty() || !rule.container.empty() ||
         rule.tenant.find(kContainerPlace) != std::string::npos;
}

/// The names that an engine gives the control groups of its containers.
struct Naming {
  std::string_view prefix, suffix, engine;
  bool by_id;  // 64 hexadecimal digits; else a name
};
constexpr std::array kNamings{
    Naming{"libpod-", ".scope", "podman", true},
    Naming{"libpod-", "", "podman", true},
    Naming{"docker-", ".scope", "docker", true},
    Naming{"cri-containerd-", ".scope", "containerd", true},
    Naming{"nerdctl-", ".scope", "containerd", true},
    Naming{"crio-", ".scope", "crio", true},
    Naming{"systemd-nspawn@", ".service", "nspawn", false},
    Naming{"machine-", ".scope", "machine", false},
    Naming{"lxc.payload.", "", "lxc", false},
};

/// The label of a control group by its own name and its parent's.
std::optional<std::string> label_of(std::string_view above, std::string_view name) {
  for (const Naming& naming : kNamings) {
    if (!name.starts_with(naming.prefix) || !name.ends_with(naming.suffix)) continue;
    if (name.size() <= naming.prefix.size() + naming.suffix.size()) continue;
    const std::string_view id =
        name.substr(naming.prefix.size(), name.size() - naming.prefix.size() - naming.suffix.size());
    if (naming.by_id && !has_container_id(id)) continue;
    return std::string(naming.engine) + ":" + std::string(id);
  }
  if (above == "docker" && has_container_id(name)) return "docker:" + std::string(name);
  if (above.starts_with("pod") && has_container_id(name)) return "kubernetes:" + std::string(name);
  return std::nullopt;
}

/// The text that replaces %c: as much of the label as a tenant's name may hold.
std::string short_label(std::string label) {
  const auto colon = label.find(':');
  if (has_container_id(std::string_view(label).substr(colon + 1))) label.resize(colon + 1 + kShortId);
  for (char& c : label) {
    if (!session::is_tenant_name(std::string_view(&c, 1))) c = '-';
  }
  return label;
}

/// Whether a rule for a user holds because the process has a subordinate id of that user.
bool holds_for_owner_of(const MatchRule& rule, const Person& person) {
  return person.owner && rule.uid == person.owner;
}

/// Whether all conditions hold.
Result<bool> holds(const MatchRule& rule, std::size_t index, const Person& person) {
  if (rule.uid && *rule.uid != person.uid && !holds_for_owner_of(rule, person)) return false;
  if (rule.gid && std::find(person.groups.begin(), person.groups.end(), *rule.gid) == person.groups.end()) {
    return false;
  }
  if (!looks_at_cgroup(rule)) return true;
  if (!person.cgroup) {
    return Error{"cannot tell whether " + match_title(index) +
                 " of the configuration holds: " + person.cgroup.error().message};
  }
  const std::string& path = person.cgroup.value();
  if (!rule.cgroup.empty() && !is_in_cgroup(rule.cgroup, path)) return false;
  const auto label = container_label(path);
  if (!rule.container.empty()) return label && fits(rule.container, *label);
  return label || rule.tenant.find(kContainerPlace) == std::string::npos;
}

/// The first rule that fits; or, if that one is for the owner of a subordinate id, a later one for the id
/// itself.
Result<std::optional<std::size_t>> deciding_rule(const TenantRules& rules, const Person& person) {
  std::optional<std::size_t> for_owner;
  for (std::size_t i = 0; i < rules.matches.size(); ++i) {
    const MatchRule& rule = rules.matches[i];
    if (for_owner && rule.uid != person.uid) continue;
    FAIRGV_TRY(fitting, holds(rule, i, person));
    if (!fitting.value()) continue;
    if (!holds_for_owner_of(rule, person)) return std::optional(i);
    for_owner = i;
  }
  return for_owner;
}

Result<std::string> tenant_by(const MatchRule& rule, std::size_t index, const Person& person) {
  const std::string container = person.cgroup
                                    ? short_label(container_label(person.cgroup.value()).value_or(""))
                                    : std::string(kContainerPlace);
  const std::string name = fill_template(rule.tenant, person.user_tenant, container);
  if (session::is_tenant_name(name)) return name;
  return session::tenant_name_error(name, "the tenant by " + match_title(index) + " of the configuration");
}

/// The rule that assigns this name, if any. A rule whose name is placeholders alone reserves no name.
std::optional<std::size_t> given_away_by(const TenantRules& rules, const std::string& name) {
  for (std::size_t i = 0; i < rules.matches.size(); ++i) {
    const std::string pattern = fill_template(rules.matches[i].tenant, "*", "*");
    const bool literal = pattern.find_first_not_of("*.-_@") != std::string::npos;
    if (literal && fits(pattern, name)) return i;
  }
  return std::nullopt;
}

Result<Membership> by_wish(const TenantRules& rules, const Person& person,
                           const std::optional<std::string>& asked, std::optional<std::size_t> rule) {
  Membership membership{asked.value_or(person.user_tenant), {}, rule, false};
  if (const auto owner = given_away_by(rules, membership.tenant)) {
    return Error{"tenant '" + membership.tenant + "' is for programs that fit " + match_title(*owner) +
                 " of the configuration and yours does not: choose another name with FAIRGV_TENANT"};
  }
  return membership;
}

}  // namespace

Result<Membership> find_membership(const TenantRules& rules, const Person& person,
                                   const std::optional<std::string>& asked) {
  FAIRGV_TRY(deciding, deciding_rule(rules, person));
  if (!deciding.value()) return by_wish(rules, person, asked, std::nullopt);
  const std::size_t i = *deciding.value();
  const MatchRule& rule = rules.matches[i];
  FAIRGV_TRY(name, tenant_by(rule, i, person));
  if (!asked || *asked == name.value()) return Membership{name.value(), rule.class_name, i, true};
  if (rule.free_names) return by_wish(rules, person, asked, i);
  return Error{"your programs belong to tenant '" + name.value() + "' by " + match_title(i) +
               " of the configuration, and not to '" + *asked + "': leave FAIRGV_TENANT unset"};
}

bool needs_cgroup(const TenantRules& rules) {
  return std::any_of(rules.matches.begin(), rules.matches.end(), looks_at_cgroup);
}

std::optional<std::string> container_label(std::string_view cgroup) {
  std::string_view above;
  bool own_manager = false;
  while (!cgroup.empty()) {
    cgroup.remove_prefix(1);  // the slash
    const std::string_view name = cgroup.substr(0, cgroup.find('/'));
    if (const auto label = label_of(above, name)) return (own_manager ? "rootless-" : "") + *label;
    own_manager = own_manager || name.starts_with("user@");
    above = name;
    cgroup.remove_prefix(name.size());
  }
  return std::nullopt;
}

}  // namespace fairgv::daemon
