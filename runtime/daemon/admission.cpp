#include "runtime/daemon/admission.hpp"

#include "runtime/daemon/config_options.hpp"
#include "runtime/daemon/peer_process.hpp"
#include "runtime/daemon/user.hpp"

namespace fairgv::daemon {
namespace {

TenantRegistry::Applicant applicant_for(const Membership& membership, uid_t uid) {
  return {.uid = uid,
          .administrator = is_administrator(uid),
          .namesake = namesake(membership.tenant),
          .assigned = membership.assigned,
          .class_name = membership.class_name};
}

}  // namespace

Result<Admission> find_admission(const TenantRules& rules, int socket, const session::PeerCredentials& peer,
                                 const std::optional<std::string>& asked) {
  const Person person = person_behind(socket, peer, needs_cgroup(rules));
  const auto membership = find_membership(rules, person, asked);
  if (!membership) return membership.error();
  return Admission{membership->tenant, applicant_for(membership.value(), peer.uid)};
}

session::WhoAmI look_at(const TenantRules& rules, const TenantRegistry& tenants, int socket,
                        const session::PeerCredentials& peer, const std::optional<std::string>& asked) {
  const Person person = person_behind(socket, peer, true);
  session::WhoAmI who;
  who.uid = person.uid;
  who.user = look_up_user(peer.uid, peer.gid).name;
  who.groups.assign(person.groups.begin(), person.groups.end());
  if (person.cgroup) {
    who.cgroup = person.cgroup.value();
    who.container = container_label(person.cgroup.value());
  }
  const auto membership = find_membership(rules, person, asked);
  if (!membership) {
    who.refusal = membership.error().message;
    return who;
  }
  if (membership->rule) {
    who.rule = match_title(*membership->rule) + " (" + rules.matches[*membership->rule].place + ")";
  }
  who.tenant = membership->tenant;
  const auto admitted = tenants.would_admit(who.tenant, applicant_for(membership.value(), peer.uid));
  if (!admitted) who.refusal = admitted.error().message;
  const TenantRule rule = tenants.rule_of(who.tenant, membership->class_name);
  const std::string& class_name = rule.class_name.empty() ? membership->class_name : rule.class_name;
  if (!class_name.empty()) who.class_name = class_name;
  who.weight = tenants.configured_weight(rule, std::nullopt);
  for (const Tenant& tenant : tenants.all()) {
    if (tenant.name == who.tenant && tenant.runs()) who.weight = tenant.weight;
  }
  return who;
}

}  // namespace fairgv::daemon
