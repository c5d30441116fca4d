// [tenants], [tenant."NAME"], [class."NAME"] and [timegraph].
#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/options/fields.hpp"
#include "runtime/daemon/config/options/sections.hpp"
#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {
namespace {

constexpr double kLeastTarget = 0.01;  // units per second
constexpr double kMostTarget = 1e9;
constexpr std::uint64_t kLeastExpected = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostExpected = std::uint64_t{1} << 50;

/// Devices that programs may use, as text.
template <class Rule>
OptionAccess<Rule> devices_field(std::optional<DevicesWanted> Rule::*member) {
  return {[=](Rule& rule, const OptionValue& value) -> std::string {
            const auto wanted = parse_devices_wanted(std::get<std::string>(value));
            if (!wanted) return wanted.error().message;
            rule.*member = wanted.value();
            return "";
          },
          [=](const Rule& rule) -> std::optional<OptionValue> {
            if (!(rule.*member)) return std::nullopt;
            return OptionValue(to_text(*(rule.*member)));
          }};
}

OptionAccess<TenantRules> devices_field(DevicesWanted TenantRules::*member) {
  return {[=](TenantRules& rules, const OptionValue& value) -> std::string {
            const auto wanted = parse_devices_wanted(std::get<std::string>(value));
            if (!wanted) return wanted.error().message;
            rules.*member = wanted.value();
            return "";
          },
          [=](const TenantRules& rules) { return OptionValue(to_text(rules.*member)); }};
}

bool is_service_name(std::string_view name) {
  return name == "normal" || name == "latency" || name == "batch";
}

}  // namespace

ConfigOptions<Config> tenants_options() {
  const auto in = [](auto member) { return within(&Config::tenants, field(member)); };
  return {
      {{"max_weight", kWeights, "", Applies::at_once, "", "The most that programs may ask for."},
       in(&TenantRules::max_weight)},
      {{"default_weight", kWeights, "", Applies::at_once, "",
        "Of a tenant whose programs ask for none. Not more than `max_weight`."},
       in(&TenantRules::default_weight)},
      {{"allow_min", TextType{}, "", Applies::new_programs, "",
        "The largest guarantee that programs may ask for, as \"20%\"; administrators may ask for more (see "
        "Promises)."},
       within(&Config::tenants, share_field(&TenantRules::allow_min))},
      {{"allow_class", ListType{3, is_service_name, "normal, latency or batch"}, "", Applies::new_programs,
        "", "The classes of service that programs may ask for; administrators may ask for any."},
       in(&TenantRules::allow_service)},
      {{"promise_limit", TextType{}, "", Applies::new_programs, "",
        "The most of each device that may be promised: all guarantees together, and the floor of the batch "
        "class."},
       within(&Config::tenants, share_field(&TenantRules::promise_limit))},
      {{"overbooked", ChoiceType{{"refuse", "background"}}, "", Applies::new_programs, "",
        "What becomes of a program whose guarantee does not fit any more: it is refused, or its tenant has "
        "no guarantee and is of the batch class."},
       within(&Config::tenants, words_field(&TenantRules::refuse_overbooked, "refuse", "background"))},
      {{"default_memory", DeviceMemoryType{}, "", Applies::at_once, "",
        "The most memory of each device that a tenant may hold of which nothing else is said."},
       in(&TenantRules::default_memory)},
      {{"devices", TextType{}, "", Applies::new_programs, "",
        "The devices that programs may use: \"all\" that their workers see; \"best\", of each platform the "
        "one where the tenant's share is largest; some by their numbers in `fairgv ps`, \"0,2-3\"; or "
        "\"best:0,2-3\", the best of these (see Several devices)."},
       within(&Config::tenants, devices_field(&TenantRules::devices))},
      {{"names", ChoiceType{{"free", "own"}}, "", Applies::new_programs, "",
        "Which names programs may ask for: any that is free, or their user's and those that are reserved for "
        "it (see Names)."},
       within(&Config::tenants, words_field(&TenantRules::free_names, "free", "own"))},
      {{"subordinate_ids", ChoiceType{{"owner", "own"}}, "", Applies::new_programs, "",
        "For whom subordinate user ids (`/etc/subuid`, rootless containers) count in names, limits and "
        "usage: the user who has them, or each for itself (see Subordinate ids)."},
       within(&Config::tenants, words_field(&TenantRules::subordinate_to_owner, "owner", "own"))},
      {{"session_limit", kSessions, "", Applies::new_programs, "", "Programs at a time of each tenant."},
       in(&TenantRules::session_limit)},
  };
}

ConfigOptions<Config> timegraph_options() {
  const auto in = [](auto access) {
    return within(&Config::tenants, within(&TenantRules::timegraph, access));
  };
  return {
      {{"spec", TextType{"the path of a file"}, "", Applies::at_once,
        "tenants without `min` have the Background reserve, and all have the lowest priority",
        "The specification file: the priorities and reserves of tenants (see TimeGraph). It is read whenever "
        "the configuration is. A path that does not begin with / goes from the folder of the file that names "
        "it."},
       in(field(&TimeGraphRules::spec))},
      {{"limit", TextType{}, "", Applies::at_once, "",
        "The most of each device that the reserves of running tenants may have together, as \"80%\". For a "
        "reserve that does not fit, `overbooked` in [tenants] says what becomes of the program: it is "
        "refused, or its tenant has the Background reserve and the lowest priority."},
       in(share_field(&TimeGraphRules::limit))},
  };
}

const ConfigOptions<TenantRule>& class_options() {
  static const ConfigOptions<TenantRule> kOptions{
      {{"weight", kWeights, "", Applies::at_once, "what its programs ask for, or `default_weight`",
        "The tenant's weight: what its programs ask for is ignored."},
       field(&TenantRule::weight)},
      {{"max_weight", kWeights, "", Applies::at_once, "as in [tenants]",
        "The most that its programs may ask for. Not more than in [tenants]."},
       field(&TenantRule::max_weight)},
      {{"min", TextType{}, "", Applies::at_once, "what its programs ask for within `allow_min`, or none",
        "The part of each device that the tenant has for certain while it has work: \"20%\", or device time "
        "in a period, \"5ms/50ms\", or \"none\" (see Promises)."},
       wish_field(&TenantRule::min, session::parse_min)},
      {{"max", TextType{}, "", Applies::at_once, "the whole device, or what its programs ask for",
        "The most of each device that the tenant may use in any second, as \"50%\", also when nobody else "
        "wants it."},
       wish_field(&TenantRule::max, session::parse_max)},
      {{"service", TextType{}, "", Applies::at_once,
        "what its programs ask for within `allow_class`, or normal",
        "The tenant's class of service: \"normal\"; \"latency\" or, with the wanted time from waking to its "
        "turn, \"latency:5ms\"; \"batch\" (see Promises)."},
       wish_field(&TenantRule::service, session::parse_service)},
      {{"units", TextType{}, "", Applies::at_once, "none",
        "A unit of the tenant's service: \"kernel:NAME\", an ended launch of this kernel; \"calls\", a call "
        "of its programs that waits for the device; \"marks\" or \"marks:LABEL\", a mark that they set (see "
        "Overselling)."},
       wish_field(&TenantRule::units, session::parse_service_unit)},
      {{"target", NumberType{kLeastTarget, kMostTarget}, "units per second", Applies::at_once, "none",
        "The service that the tenant is to have while it uses nearly all of its cap. Needs `units`."},
       field(&TenantRule::target)},
      {{"allow_min", TextType{}, "", Applies::new_programs, "as in [tenants]",
        "The largest guarantee that its programs may ask for."},
       wish_field(&TenantRule::allow_min, session::parse_max)},
      {{"memory", DeviceMemoryType{}, "", Applies::at_once, "`default_memory`",
        "The most memory of each device that the tenant may hold."},
       field(&TenantRule::memory)},
      {{"devices", TextType{}, "", Applies::new_programs, "as in [tenants]",
        "The devices that its programs may use."},
       devices_field(&TenantRule::devices)},
      {{"expected_memory", BytesType{kLeastExpected, kMostExpected}, "", Applies::new_programs,
        "only what the tenant holds counts",
        "Memory that the tenant is expected to need on a device: the daemon chooses none that has less left "
        "for it, and counts it as taken from the program's start on (see Several devices)."},
       field(&TenantRule::expected_memory)},
      {{"direct", kDirect, "", Applies::new_programs, "as in [cuda]",
        "Whether its programs may keep the CUDA driver in their own process."},
       direct_field(&TenantRule::direct)},
      {{"session_limit", kSessions, "", Applies::new_programs, "as in [tenants]",
        "Programs at a time of the tenant."},
       field(&TenantRule::session_limit)},
  };
  return kOptions;
}

const ConfigOptions<TenantRule>& tenant_options() {
  static const ConfigOptions<TenantRule> kOptions = [] {
    ConfigOptions<TenantRule> rows = class_options();
    const ConfigOptions<TenantRule> more{
        {{"memory_reserve", DeviceMemoryType{}, "", Applies::at_once, "none",
          "Memory of each device that is kept free of others while the tenant does not hold it. Not more "
          "than `memory`."},
         field(&TenantRule::memory_reserve)},
        {{"class", TextType{"a tenant class's name", session::is_tenant_name}, "", Applies::at_once, "none",
          "What this table leaves out is as in this [class.\"NAME\"]."},
         field(&TenantRule::class_name)},
        {{"uid", kIds, "", Applies::new_programs, "no user", "Only this user may use the name; see Names."},
         field(&TenantRule::uid)},
        {{"user", TextType{}, "", Applies::new_programs, "no user",
          "The same by the user's name, instead of `uid`."},
         name_field(&TenantRule::uid, find_user, "user", "uid")},
    };
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return kOptions;
}

}  // namespace fairgv::daemon
