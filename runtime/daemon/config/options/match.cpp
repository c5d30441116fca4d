// [[match]].
#include <string_view>

#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/options/fields.hpp"
#include "runtime/daemon/config/tenant_template.hpp"
#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {
namespace {

bool is_cgroup_pattern(std::string_view pattern) {
  return pattern.starts_with('/');
}

}  // namespace

const ConfigOptions<MatchRule>& match_options() {
  static const ConfigOptions<MatchRule> kOptions{
      {{"tenant",
        TextType{"a tenant's name, in which %u may stand for the user's name and %c for the container",
                 is_tenant_template},
        "", Applies::new_programs, "none; it must be there",
        "The tenant that programs belong to for which the conditions hold."},
       field(&MatchRule::tenant)},
      {{"class", TextType{"a tenant class's name", session::is_tenant_name}, "", Applies::new_programs,
        "none", "The tenant's class, unless its own table names one."},
       field(&MatchRule::class_name)},
      {{"names", ChoiceType{{"fixed", "free"}}, "", Applies::new_programs, "",
        "Whether programs may ask for another tenant: no (they are refused), or as [tenants] allows."},
       words_field(&MatchRule::free_names, "free", "fixed")},
      {{"uid", kIds, "", Applies::new_programs, "any", "Condition: the process runs as this user."},
       field(&MatchRule::uid)},
      {{"user", TextType{}, "", Applies::new_programs, "any",
        "The same by the user's name, instead of `uid`."},
       name_field(&MatchRule::uid, find_user, "user", "uid")},
      {{"gid", kIds, "", Applies::new_programs, "any",
        "Condition: the process is in this group, as its first or another one."},
       field(&MatchRule::gid)},
      {{"group", TextType{}, "", Applies::new_programs, "any",
        "The same by the group's name, instead of `gid`."},
       name_field(&MatchRule::gid, find_group, "group", "gid")},
      {{"cgroup", TextType{"a pattern of whole control group paths, which begins with /", is_cgroup_pattern},
        "", Applies::new_programs, "any",
        "Condition: the process is in a control group (version 2) whose path fits; `*` and `?` stand for "
        "anything, `/` included; what lies below a fitting group fits, too."},
       field(&MatchRule::cgroup)},
      {{"container", TextType{}, "", Applies::new_programs, "any",
        "Condition: the process is in a container whose label, `ENGINE:ID`, fits the pattern (see Who is "
        "which tenant)."},
       field(&MatchRule::container)},
  };
  return kOptions;
}

}  // namespace fairgv::daemon
